import {
  FOREIGN_EVENTS,
  IS_A_SANDBOX,
  NOT_A_SANDBOX,
  NOT_MARKED,
  requireSandboxMark,
  sandboxMark,
} from '../../services/sandbox.ts';
import { type Context, type Finding, ok, warn } from './check.ts';

const REFUSALS = [FOREIGN_EVENTS, IS_A_SANDBOX, NOT_A_SANDBOX, NOT_MARKED];

/** Checks that the database fits `SANDBOX`, and that a sandbox was emptied when it was due. */
export async function checkSandbox({
  ask,
  client,
  config,
}: Pick<Context, 'ask' | 'client' | 'config'>): Promise<Finding[]> {
  try {
    await requireSandboxMark((text) => client.query(text), config.sandbox);
  } catch (error) {
    const text = (error as Error).message;
    if (!REFUSALS.includes(text)) throw error;
    // These messages end with what to do.
    return [{ level: 'bad', text }];
  }
  const [mark] = await ask(sandboxMark(config.sandboxEmptiedAt));
  if (!mark) return [ok('Not a sandbox: nothing empties the database')];
  const emptied = mark.emptied_at.toISOString();
  if (mark.due)
    return [
      warn(
        `The sandbox was last emptied at ${emptied}, and was due at ${mark.due_at.toISOString()}`,
        'stop all processes, then npm run release',
      ),
    ];
  return [ok(`A sandbox, emptied at ${emptied} and each day at ${config.sandboxEmptiedAt} UTC`)];
}
