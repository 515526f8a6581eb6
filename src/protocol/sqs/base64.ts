/** Standard base64 of message attribute values: `atob` and `btoa`, which every runtime has natively. */

/** Stack-safe number of arguments for one String.fromCharCode call. */
const CHUNK = 8_192;

export function base64FromBytes(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(binary);
}

/** Undefined when the text is no base64. Padding may be missing, as `atob` allows. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
