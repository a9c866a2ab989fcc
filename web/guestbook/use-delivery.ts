import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import type { Standing, Submission } from './own-notes-store.ts';
import { isUncertain } from './problem-text.ts';

/** Pauses before further attempts, because a browser may report a network that does not work yet. */
const PAUSES_BACK_ONLINE_MS: readonly number[] = [500, 2000, 5000];

export type DeliveryAnswer = Answer<{ status: Standing }>;

/**
 * Sends notes, one at a time. When the network is back, an unconfirmed note is sent again with the
 * same id. `onAnswer` learns whether the note was changed after it was sent.
 */
export function useDelivery(
  onAnswer: (answer: DeliveryAnswer, body: Submission, changed: boolean) => void,
) {
  const [sending, setSending] = useState(false);
  /** The last submission without a definite answer; cleared when the note changes. */
  const unconfirmed = useRef<Submission>(undefined);
  const mounted = useRef(true);
  /** The request in flight; `backOnline`: the network came back after it was sent. */
  const inFlight = useRef<{ backOnline: boolean }>(undefined);

  async function deliver(body: Submission, pauses: readonly number[] = []): Promise<void> {
    unconfirmed.current = body;
    const request = { backOnline: false };
    inFlight.current = request;
    setSending(true);
    const answer: DeliveryAnswer = await call('POST', '/api/guestbook', { body });
    const uncertain = answer.kind !== 'ok' && isUncertain(answer);
    const [pause, ...further] = request.backOnline ? [0, ...PAUSES_BACK_ONLINE_MS] : pauses;
    if (uncertain && pause !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (mounted.current && unconfirmed.current === body) return deliver(body, further);
    }
    const changed = unconfirmed.current !== body;
    inFlight.current = undefined;
    if (!uncertain) unconfirmed.current = undefined;
    setSending(false);
    onAnswer(answer, body, changed);
  }

  const resend = useRef(deliver);
  resend.current = deliver;
  // A closed form must not resend. useLayoutEffect, since useEffect cleans up a frame later.
  useLayoutEffect(() => {
    const again = () => {
      if (inFlight.current) inFlight.current.backOnline = true;
      else if (unconfirmed.current) void resend.current(unconfirmed.current, PAUSES_BACK_ONLINE_MS);
    };
    addEventListener('online', again);
    return () => {
      mounted.current = false;
      removeEventListener('online', again);
    };
  }, []);

  return {
    sending,
    isInFlight: () => inFlight.current !== undefined,
    deliver: (body: Submission) => deliver(body),
    /** Call when the note changes, so that the earlier version is not sent again. */
    noteChanged: () => {
      unconfirmed.current = undefined;
    },
  };
}
