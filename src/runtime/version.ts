/** The version of okuri, the same as in package.json and deno.json (test/tidy checks). */
export const VERSION = '0.1.0';
