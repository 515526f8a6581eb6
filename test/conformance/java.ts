/** The Java programs: Maven fetches what a folder's pom.xml pins, javac compiles the folder and java/common with it. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { found, here, installed, tool } from './toolchain.ts';

/** Starts in a second on a busy core. */
const QUICK_START = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m'];

/**
 * @param client the folder of the pom.xml.
 * @param source the folder of the program, where it is another one.
 * @returns the arguments of `java` that run it.
 */
export async function javaProgram(
  client: string,
  source = client,
  main = 'Jobs',
): Promise<readonly string[]> {
  const pom = join(here, 'java', client, 'pom.xml');
  const sources = [join(here, 'java', 'common'), join(here, 'java', source)].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.java'))
      .map((name) => join(folder, name)),
  );
  const folder = await installed(client, [pom, ...sources], async (empty) => {
    const [libraries, classes] = [join(empty, 'lib'), join(empty, 'classes')];
    mkdirSync(classes);
    await tool('mvn', [
      '-B',
      '-q',
      '-f',
      pom,
      'dependency:copy-dependencies',
      `-DoutputDirectory=${libraries}`,
    ]);
    const options = ['-encoding', 'UTF-8', '-parameters', '-cp', join(libraries, '*'), '-d', classes];
    await tool('javac', [...options, ...sources]);
  });
  // Nothing is read in the platform's character set, which is POSIX's where there is no locale.
  const classPath = `${join(folder, 'classes')}:${join(folder, 'lib', '*')}`;
  return [...QUICK_START, '-Dfile.encoding=UTF-8', '-cp', classPath, main];
}

export function javaVersion(client: string, artifact: string): string {
  const pom = readFileSync(join(here, 'java', client, 'pom.xml'), 'utf8');
  const pattern = new RegExp(`<artifactId>${artifact}</artifactId>\\s*<version>([^<]+)</version>`);
  return found(pattern.exec(pom), artifact);
}
