/**
 * Just enough reading of TypeScript for the house rules: what a file imports, and its text without comments and
 * strings. TypeScript 7 has no parser for programs to call, and the rules need no more than this.
 */

export interface SourceText {
  /** As written, comments blanked out. */
  readonly withStrings: string;
  /** Comments and the contents of strings blanked out; line breaks stay. */
  readonly codeOnly: string;
}

const blanked = (text: string) => text.replace(/[^\n]/g, ' ');

/** A token at a time: comment, string, template, regular expression after something that cannot end a value, else one character. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[=(,:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*|[\s\S]/gu;

export function readSource(text: string): SourceText {
  let withStrings = '';
  let codeOnly = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const comment = token.length > 1 && (token.startsWith('//') || token.startsWith('/*'));
    const quoted = token.length > 1 && /^['"`/]/.test(token) && !comment;
    withStrings += comment ? blanked(token) : token;
    if (comment) codeOnly += blanked(token);
    else if (!quoted) codeOnly += token;
    else if (token.startsWith('`')) codeOnly += templateCode(token);
    else codeOnly += `${token[0]}${blanked(token.slice(1, -1))}${token.at(-1)}`;
  }
  return { withStrings, codeOnly };
}

/** Of a template only what stands in `${}` is code; nested templates are rare enough to be kept whole. */
function templateCode(token: string): string {
  let code = '';
  let at = 0;
  for (const match of token.matchAll(/\$\{[^}]*\}/g)) {
    code += blanked(token.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
  }
  return code + blanked(token.slice(at));
}

/** Every module named in an import or export declaration or a dynamic import. */
export function importsOf(source: SourceText): readonly string[] {
  const found: string[] = [];
  const declaration =
    /(?:^|[;\n])\s*(?:import\s*['"]([^'"]+)['"]|(?:import|export)\b[^;'"=()]*?\bfrom\s*['"]([^'"]+)['"])/g;
  const dynamic = /\bimport\s*\(\s*['"]([^'"]+)['"]\s*\)/g;
  for (const expression of [declaration, dynamic]) {
    for (const match of source.withStrings.matchAll(expression)) found.push((match[1] ?? match[2])!);
  }
  return found;
}

/** The comment a file begins with. */
export function headerOf(text: string): string {
  return /^(?:#!.*\n)?\s*(\/\*[\s\S]*?\*\/|(?:\/\/.*\n|#.*\n)+)/.exec(text)?.[1] ?? '';
}
