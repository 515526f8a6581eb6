/**
 * The characters of a message: #x9, #xA, #xD, #x20–#xD7FF, #xE000–#xFFFD, #x10000–#x10FFFF. The `u` flag makes the
 * expression see code points: without it an emoji would be two forbidden surrogates; with it only lone ones are.
 */

const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;
const EVERY_FORBIDDEN = new RegExp(FORBIDDEN, 'gu');

/** They are XML's characters: with any other an answer would not be read at all. */
export function replaceForbidden(text: string): string {
  return text.replace(EVERY_FORBIDDEN, '\ufffd');
}

/** As AWS writes it, `#xFFFF`; undefined when all are allowed. */
export function firstForbiddenCodePoint(text: string): string | undefined {
  const match = FORBIDDEN.exec(text);
  const codePoint = match?.[0].codePointAt(0);
  return codePoint === undefined ? undefined : `#x${codePoint.toString(16).toUpperCase()}`;
}
