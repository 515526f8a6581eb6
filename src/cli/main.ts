/** The command line. Configuration is by environment only, so that it is the same in a shell, a unit file and a container. */
import { Command } from 'commander';
import { SETTING_NAMES, SETTINGS } from '../runtime/settings.ts';
import { VERSION } from '../runtime/version.ts';
import { serve } from './serve.ts';

function environmentHelp(): string {
  const rows = SETTING_NAMES.map((name) => {
    const { fallback, meaning } = SETTINGS[name];
    return `  ${name.padEnd(28)} ${meaning}${fallback === '' ? '' : ` (default: ${fallback})`}`;
  });
  return `\nEnvironment:\n${rows.join('\n')}\n`;
}

const program = new Command('okuri')
  .description('A job queue where an object-storage bucket is the only source of truth. Speaks SQS.')
  .version(VERSION)
  .showHelpAfterError();

program
  .command('serve')
  .description('answer SQS clients until SIGTERM or SIGINT')
  .addHelpText('after', environmentHelp())
  .action(serve);

await program.parseAsync();
