/** Addresses to listen on, as people write them: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080` for all. */

export interface ListenAddress {
  /** Without brackets. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

const BRACKETED = /^\[([0-9A-Fa-f:.]+)\]:(\d{1,5})$/;
const PLAIN = /^([A-Za-z0-9.-]*):(\d{1,5})$/;

/** Undefined when the text is no address. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = BRACKETED.exec(text) ?? PLAIN.exec(text);
  if (match === null) return undefined;
  const port = Number(match[2]);
  if (port > 65_535) return undefined;
  return { host: match[1] === '' ? '::' : match[1]!, port };
}

export function formatAddress(address: ListenAddress): string {
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** Whether only this machine can reach it. A name other than `localhost` may lead anywhere. */
export function isLoopback(address: ListenAddress): boolean {
  const host = address.host.toLowerCase();
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

const WILDCARDS = new Set(['0.0.0.0', '::']);

/** Whether both cannot be listened on at one time. Free ports never collide. */
export function collide(one: ListenAddress, other: ListenAddress): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  if (WILDCARDS.has(one.host) || WILDCARDS.has(other.host)) return true;
  return one.host.toLowerCase() === other.host.toLowerCase();
}
