/** `20150830T123600Z`: the basic ISO 8601 form in which signatures carry their time. */

const AMZ_DATE = /^([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})Z$/;

/** Milliseconds since the epoch, or undefined when the text is no such date. */
export function parseAmzDate(text: string): number | undefined {
  const match = AMZ_DATE.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const millis = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(millis) ? undefined : millis;
}

export function formatAmzDate(millis: number): string {
  return new Date(millis).toISOString().replace(/[-:]|\.[0-9]{3}/g, '');
}
