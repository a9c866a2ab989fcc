import { pause, send } from '../send.ts';

/** How long a command waits for discovery, in milliseconds: the sentence is not worth more. */
const TIMEOUT_MS = 5000;

/**
 * Says that the service is a sandbox, if its discovery does (docs/operating/sandbox.md). The sentence is written here,
 * because the instructions of a model must not come from a service. Asked once; without an answer there is no sentence.
 */
export async function findSandboxNotice(baseUrl: string): Promise<string | undefined> {
  const operation = { method: 'GET', path: '/api/v1/discovery', maxRetries: 0 } as const;
  const options = {
    baseUrl,
    patience: 0,
    timeout: TIMEOUT_MS,
    pause,
    heard: () => undefined,
    fetch,
  };
  const answer = await send<{ limitations?: unknown } | null>(options, operation).catch(() => null);
  const limitations = answer?.data?.limitations;
  const found = Array.isArray(limitations)
    ? limitations.find((text) => typeof text === 'string' && text.startsWith('This is a sandbox'))
    : undefined;
  if (found === undefined) return undefined;
  const time = /\b([0-2]\d:[0-5]\d) UTC\b/.exec(found)?.[1];
  const when = time ? `each day at ${time} UTC` : 'each day';
  return `The service is a sandbox for tests: all members and texts in it are deleted ${when}. Then register again.`;
}
