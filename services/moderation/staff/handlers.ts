import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import { newToken } from '../../../platform/keys/token.ts';
import type { RouteLimits } from '../../../platform/limits/route-limits.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import { readModeratorToken } from './authenticate.ts';
import { MODERATOR_KEY_ATTEMPTS, type moderatorSessionContract } from './contract.ts';
import { CLEAR_MODERATOR_COOKIE, moderatorCookie, presentedModeratorSession } from './sessions.ts';
import { byToken, signInCommand, signOutCommand } from './sign-in.ts';

export interface ModeratorSessionDeps {
  store: EventStore;
  keys: KeyRing;
  limits: RouteLimits;
}

export function moderatorSessionHandlers({
  store,
  keys,
  limits,
}: ModeratorSessionDeps): Handlers<typeof moderatorSessionContract> {
  return {
    'moderation.sign_in': (call) =>
      limits.within(call, [MODERATOR_KEY_ATTEMPTS], async () => {
        const { body, request } = call;
        const token = readModeratorToken(body.token);
        if (!token) return refuse('moderator_required');
        const session = newToken();
        const before = presentedModeratorSession(request.cookie);
        const signIn = signInCommand(keys, token, session, before);
        const answer = await handle(store, byToken(keys, token), signIn);
        if (isRefusal(answer)) return answer;
        return { status: 200, body: answer, headers: { 'set-cookie': moderatorCookie(session) } };
      }),

    'moderation.sign_out': async ({ principal }) => {
      const { moderatorId: id } = principal;
      await handle(store, { type: 'moderator', id }, signOutCommand(principal));
      return {
        status: 200,
        body: { status: 'signed_out' },
        headers: { 'set-cookie': CLEAR_MODERATOR_COOKIE },
      };
    },
  };
}
