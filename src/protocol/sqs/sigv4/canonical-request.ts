/**
 * The canonical request of Signature Version 4: one text that signer and verifier both derive from a request.
 *
 * - Only headers named in SignedHeaders count; values are trimmed and inner runs of spaces folded to one.
 * - The path is encoded once more than it was sent (every service but S3), dot segments and doubled slashes removed.
 * - Query parameters are sorted by encoded name, then encoded value; `X-Amz-Signature` never counts.
 */

export interface CanonicalParts {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly canonicalQuery: string;
  /** Lower-case names in the order of SignedHeaders, with their values as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly payloadHash: string;
}

/** RFC 3986: everything but unreserved characters, which encodeURIComponent leaves five of. */
export function encodeRfc3986(text: string): string {
  // A lone surrogate, which only a broken caller could sign, would make encodeURIComponent throw.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Percent-decodes; what is no valid escape stays as it is. `+` is a plus, as every signer sends a space as `%20`. */
export function decodeComponent(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encodePath(path: string): string {
  return path.split('/').map(encodeRfc3986).join('/');
}

/** Signers drop empty and dot segments but keep a final slash. */
export function normalizedPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  const body = segments.join('/');
  return body !== '' && path.endsWith('/') ? `/${body}/` : `/${body}`;
}

export function canonicalPath(path: string): string {
  return encodePath(normalizedPath(path));
}

export function canonicalQuery(parameters: readonly (readonly [name: string, value: string])[]): string {
  return parameters
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [encodeRfc3986(name), encodeRfc3986(value)] as const)
    .sort(([nameA, valueA], [nameB, valueB]) => compareText(nameA, nameB) || compareText(valueA, valueB))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function queryParameters(query: string): readonly (readonly [name: string, value: string])[] {
  if (query === '') return [];
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals < 0
        ? [decodeComponent(part), '']
        : [decodeComponent(part.slice(0, equals)), decodeComponent(part.slice(equals + 1))];
    });
}

function foldSpaces(value: string): string {
  return value.trim().replace(/\s+/g, ' ');
}

export function canonicalRequest(parts: CanonicalParts): string {
  let headerLines = '';
  let names = '';
  for (const [name, value] of parts.headers) {
    headerLines += `${name}:${foldSpaces(value)}\n`;
    names += names === '' ? name : `;${name}`;
  }
  const { method, path, canonicalQuery: query, payloadHash } = parts;
  return `${method}\n${canonicalPath(path)}\n${query}\n${headerLines}\n${names}\n${payloadHash}`;
}
