import { failureLine } from '../../platform/command-line/failure.ts';
import { configOrExit } from '../../platform/config.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { Core } from '../../services/compose.ts';
import { leave } from './terminal.ts';

/** Runs `work` directly on the database of the service, without HTTP. */
export async function withStorage(
  work: (core: Core) => Promise<void>,
  application = 'service moderator',
): Promise<void> {
  const config = configOrExit();
  // Loaded late, as it takes most of the time of a command that prints its usage or refuses its arguments.
  const { createCore } = await import('../../services/compose.ts');
  const core = await createCore(config, application).catch((error) => leave(failureLine(error)));
  try {
    await work(core);
  } catch (error) {
    if (isUnavailable(error)) leave(failureLine(error));
    throw error;
  } finally {
    await core.close();
  }
}
