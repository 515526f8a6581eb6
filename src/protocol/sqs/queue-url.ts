/**
 * Queue URLs: `<base>/<account>/<name>`, exactly two path parts. The base is the configured public one, or the scheme
 * and Host the caller used. A URL that comes back is resolved by its path alone, since containers, tunnels and proxies
 * make callers use other hosts than the one a URL was made for; a bare name is accepted as well.
 */
import { isQueueName } from '../../core/queue-arn.ts';

export function queueUrl(base: string, accountId: string, name: string): string {
  return `${base}/${accountId}/${name}`;
}

/** The name in a path of two parts, of our account; undefined otherwise. */
export function queueNameOfPath(path: string, accountId: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const [account, name] = parts;
  if (parts.length !== 2 || account !== accountId || name === undefined) return undefined;
  return isQueueName(name) ? name : undefined;
}

/** The queue a QueueUrl names, or undefined when it can be none of ours. */
export function queueNameOfUrl(url: string, accountId: string): string | undefined {
  const withoutQuery = url.trim().split(/[?#]/, 1)[0] ?? '';
  if (isQueueName(withoutQuery)) return withoutQuery;
  const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(withoutQuery);
  return queueNameOfPath(
    authority === null ? withoutQuery : withoutQuery.slice(authority[0].length),
    accountId,
  );
}
