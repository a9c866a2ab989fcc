import type { Answer } from './call.ts';
import { Call } from './call.ts';
import type { Identity } from './identity.ts';
import type { CallOptions, Input } from './operation.ts';
import type { Operations } from './schema.ts';

type SendWith = <Of extends keyof Operations>(
  id: Of,
  input: Input<Of>,
  options: CallOptions | undefined,
  cookie: string | undefined,
) => Promise<Answer<Operations[Of]['reply']>>;

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Calls operations that need a session of the member. Needs a `fetch` that shows cookies, as that of Node,
 * Deno and Bun; a browser keeps them to itself.
 */
export function createSessions(send: SendWith, { id, sign_in_key }: Identity) {
  async function within<Of extends keyof Operations>(
    operation: Of,
    input: Input<Of>,
    options: CallOptions | undefined,
  ) {
    const { headers } = await send(
      'membership.login',
      { body: { id, sign_in_key } },
      options,
      undefined,
    );
    const cookie = headers
      .getSetCookie()
      .map((text) => text.replace(/;.*/s, ''))
      .join('; ');
    try {
      return await send(operation, input, options, cookie);
    } finally {
      // Tried once: the session ends by itself, and the answer of the operation must not wait.
      const once = { timeout: options?.timeout, maxRetries: 0 };
      await send('membership.logout', { body: {} }, once, cookie).catch(() => undefined);
    }
  }

  return {
    within: <Of extends keyof Operations>(operation: Of, input: Input<Of>, options?: CallOptions) =>
      new Call(within(operation, input, options)),
  };
}
