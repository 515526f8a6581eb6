/**
 * Names and ARNs of queues. An ARN is `arn:<partition>:sqs:<region>:<account>:<name>`; okuri writes the partition
 * `aws` and reads any, since configurations copied from other partitions keep theirs.
 */

export interface QueueArn {
  readonly accountId: string;
  readonly region: string;
  readonly name: string;
}

const ARN = /^arn:aws[a-z-]*:sqs:([a-z0-9-]+):([0-9]{12}):([A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo)$/;

/** 1–80 characters; `.fifo` counts among them and is the only place for a dot. */
const QUEUE_NAME = /^(?:[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo)$/;

export function isQueueName(name: string): boolean {
  return QUEUE_NAME.test(name);
}

export function isFifoName(name: string): boolean {
  return name.endsWith('.fifo');
}

export function queueArn(parts: QueueArn): string {
  return `arn:aws:sqs:${parts.region}:${parts.accountId}:${parts.name}`;
}

/** What an ARN names, or undefined when it is not a queue's ARN. */
export function queueNameOfArn(arn: string): QueueArn | undefined {
  const match = ARN.exec(arn);
  if (match === null) return undefined;
  const [, region, accountId, name] = match;
  if (region === undefined || accountId === undefined || name === undefined) return undefined;
  return { accountId, region, name };
}
