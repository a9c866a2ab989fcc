import { parseArgs } from 'node:util';
import { type Core, openCore } from '../../app.ts';
import { configOrExit } from '../../config.ts';
import { isUnavailable } from '../../postgres/errors.ts';
import { lineOf } from '../failure.ts';
import { leave } from './terminal.ts';

/** Work on the database of this service, without its HTTP. */
export async function withStorage(work: (core: Core) => Promise<void>): Promise<void> {
  const config = configOrExit();
  const core = await openCore(config, 'service moderator').catch((error) => leave(lineOf(error)));
  try {
    await work(core);
  } catch (error) {
    if (isUnavailable(error)) leave(lineOf(error));
    throw error;
  } finally {
    await core.close();
  }
}

/** The one name or id that the arguments have. */
export function oneName(args: string[]): string {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const name = positionals[0]?.trim();
  if (!name || positionals.length > 1) leave('One name or id is wanted.\n');
  return name;
}
