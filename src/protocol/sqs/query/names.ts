/**
 * What the query protocol calls the members of requests and answers, by AWS's model of SQS (2012-11-05). Every list and
 * map there is flattened: its entries stand beside each other under one singular name, with a number in requests.
 * Members that are not here are scalars and keep their own name.
 */

/** How one map is written: an element for each entry, with its key and value in it. */
export interface MapNames {
  readonly entry: string;
  readonly key: string;
  readonly value: string;
  /** Another name for the entry, in requests of SDKs that took the member's own. */
  readonly older?: string;
}

const LISTS: ReadonlyMap<string, string> = new Map([
  ['AttributeNames', 'AttributeName'],
  ['MessageSystemAttributeNames', 'MessageSystemAttributeName'],
  ['MessageAttributeNames', 'MessageAttributeName'],
  ['StringListValues', 'StringListValue'],
  ['BinaryListValues', 'BinaryListValue'],
  ['TagKeys', 'TagKey'],
  ['AWSAccountIds', 'AWSAccountId'],
  ['Actions', 'ActionName'],
  ['QueueUrls', 'QueueUrl'],
  ['queueUrls', 'QueueUrl'],
  ['Messages', 'Message'],
  ['Failed', 'BatchResultErrorEntry'],
]);

/** Lists whose entries are named after the action. */
const LISTS_OF_ACTION: ReadonlyMap<string, string> = new Map([
  ['Entries', 'RequestEntry'],
  ['Successful', 'ResultEntry'],
  ['Results', 'ResultEntry'],
]);

function namedPairs(entry: string): MapNames {
  return { entry, key: 'Name', value: 'Value' };
}

/**
 * The Java SDKs, 1 and 2, name the tags of TagQueue `Tags.1.Key` (aws/aws-sdk-java-v2#2524), and who does not know that the
 * map is flattened writes `Tags.entry.1.key`.
 */
const TAGS: MapNames = { entry: 'Tag', key: 'Key', value: 'Value', older: 'Tags' };

const MAPS: ReadonlyMap<string, MapNames> = new Map([
  ['Attributes', namedPairs('Attribute')],
  ['MessageAttributes', namedPairs('MessageAttribute')],
  ['MessageSystemAttributes', namedPairs('MessageSystemAttribute')],
  ['tags', TAGS],
  ['Tags', TAGS],
]);

/** Undefined when the member is no list. */
export function listEntryName(action: string, member: string): string | undefined {
  const suffix = LISTS_OF_ACTION.get(member);
  return suffix === undefined ? LISTS.get(member) : `${action}${suffix}`;
}

/** Undefined when the member is no map. */
export function mapNames(member: string): MapNames | undefined {
  return MAPS.get(member);
}
