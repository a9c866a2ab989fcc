import { useEffect, useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { Alert, announce } from '../shared/live-region.tsx';
import { When } from '../shared/time.tsx';
import { type Failure, failureText, needsSignIn } from './problem-text.ts';
import type { Session } from './session.ts';

interface ListedSession {
  id: string;
  started_at: string;
  expires_at: number;
  current: boolean;
}

/** The member's live sessions; one, or all others, can be ended. */
export function MySessions({ session }: { session: Session }) {
  const [sessions, setSessions] = useState<ListedSession[]>();
  const [failure, setFailure] = useState<Failure>();

  async function load(): Promise<void> {
    const answer = await call<{ sessions: ListedSession[] }>('GET', '/api/membership/sessions');
    if (answer.kind === 'ok') setSessions(answer.body.sessions);
    else fail(answer);
  }

  function fail(answer: Failure): void {
    setFailure(answer);
    if (needsSignIn(answer)) session.end({ showNotice: true });
  }

  async function end(body: object, confirmation: string): Promise<void> {
    setFailure(undefined);
    const answer = await call('POST', '/api/membership/sessions/revoke', { body });
    if (answer.kind !== 'ok') return fail(answer);
    announce(confirmation);
    await load();
  }

  useEffect(() => void load(), [session.id]);

  const others = sessions?.filter(({ current }) => !current) ?? [];
  return (
    <section class="stack tight" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      {failure && <Alert>{failureText(failure)}</Alert>}
      <ul class="lines">
        {sessions?.map(({ id, started_at, expires_at, current }) => (
          <li key={id} class="row">
            <span id={`session-${id}`}>
              {current ? 'This session' : 'Another session'}, since <When at={started_at} /> until{' '}
              <When at={new Date(expires_at * 1000).toISOString()} />
            </span>
            {!current && (
              <button
                type="button"
                class="button quiet"
                aria-describedby={`session-${id}`}
                onClick={() => void end({ session_id: id }, 'Session ended')}
              >
                End
              </button>
            )}
          </li>
        ))}
      </ul>
      {others.length > 1 && (
        <p>
          <button
            type="button"
            class="button"
            onClick={() => void end({ all_others: true }, 'All other sessions ended')}
          >
            End all other sessions
          </button>
        </p>
      )}
    </section>
  );
}
