import { setTimeout as sleep } from 'node:timers/promises';
import { retryUntilAnswered, type SharedRunState, uuid } from './client.ts';
import { type Answer, done } from './history.ts';
import type { Random } from './random.ts';
import { expectEnded, sessionId, signIn } from './session.ts';

interface Claim {
  lease_id: string;
  note_id: string;
  item: { version: number };
}

const DECISIONS = [
  { action: 'approve' },
  { action: 'approve' },
  { action: 'approve' },
  { action: 'reject', policy: 'spam' },
  { action: 'reject', policy: 'abuse', message: 'Please be kind' },
  { action: 'escalate', message: 'A hard one' },
];

export type Moderator = ReturnType<typeof createProofModerator>;

/** A moderator, by token or browser session: claims, decides on notes and records, and undoes. */
export function createProofModerator(common: SharedRunState, random: Random, token: string) {
  const { call, history } = common;
  const id = /^mod_([^.]+)\./.exec(token)?.[1] ?? '';
  let cookie: string | undefined;
  const proof = (): Record<string, string> =>
    cookie ? { cookie } : { authorization: `Bearer ${token}` };

  async function post(operation: string, path: string, body: object, patience?: number) {
    const key = uuid(random);
    const headers = { ...proof(), 'idempotency-key': key };
    return retryUntilAnswered(common, random, {
      operation,
      actor: id,
      address: '',
      key,
      patience: patience ?? (random.chance(0.15) ? 0 : 60),
      copies: random.chance(0.1) ? 3 : 1,
      again: random.chance(0.15),
      send: () => call({ method: 'POST', path: `/api/moderation/${path}`, body, headers }),
    });
  }

  const decide = (note: string, expected_version: number, what: object) =>
    post('moderation.decide', `notes/${note}/decisions`, { ...what, expected_version });

  const claim = (body: object) => post('moderation.claim', 'claims', body);

  const undo = ({ event_id, version }: { event_id: string; version: number }) =>
    post('moderation.undo', `decisions/${event_id}/undo`, { expected_version: version });

  async function afterwards(decided: Answer | undefined): Promise<void> {
    if (done(decided) && decided.body.undo_until && random.chance(0.2)) await undo(decided.body);
  }

  async function pending(): Promise<void> {
    const claimed = await claim({ count: 1 + random.below(6) });
    if (!done(claimed)) return giveAllBack();
    const { claims } = claimed.body as { claims: Claim[] };
    if (claims.length > 0 && random.chance(0.1))
      await post('moderation.renew', 'claims/renew', leasesOf(claims));
    if (claims.length > 1 && random.chance(0.5)) return together(claims);
    for (const { note_id, item } of claims)
      await afterwards(await decide(note_id, item.version, random.pick(DECISIONS)));
    if (random.chance(0.1)) await giveBack(claimed);
  }

  const leasesOf = (leases: readonly { lease_id: string }[]) => ({
    lease_ids: leases.map(({ lease_id }) => lease_id),
  });

  /** Decides on all claims in one batch, and sometimes undoes the batch. */
  async function together(claims: readonly Claim[]): Promise<void> {
    const items = claims.map(({ note_id, item: { version } }) => ({
      note_id,
      expected_version: version,
    }));
    const body = { ...random.pick(DECISIONS), items };
    const decided = await post('moderation.batch', 'decisions/batch', body);
    if (done(decided) && random.chance(0.15))
      await post('moderation.undo_batch', `batches/${decided.body.batch_id}/undo`, {});
  }

  async function giveBack(claimed: Answer | undefined): Promise<void> {
    if (done(claimed) && claimed.body.claims.length > 0)
      await post('moderation.release', 'claims/release', leasesOf(claimed.body.claims));
  }

  async function giveAllBack(): Promise<void> {
    const me = await call({ method: 'GET', path: '/api/moderation/me', headers: proof() });
    if (done(me) && me.body.leases.length > 0)
      await post('moderation.release', 'claims/release', leasesOf(me.body.leases));
  }

  const fits: Record<string, readonly object[]> = {
    reported: [{ action: 'keep' }, { action: 'remove', policy: 'other' }],
    appeals: [{ action: 'grant' }, { action: 'uphold' }],
    escalated: [{ action: 'approve' }, { action: 'reject', policy: 'other' }],
    decided: [{ action: 'remove', policy: 'illegal' }, { action: 'restore' }],
  };

  /** Decides on other queue items: reports, appeals, escalations and earlier decisions. */
  async function others(): Promise<void> {
    const view = random.pick(Object.keys(fits));
    const path = `/api/moderation/queue?view=${view}&limit=5`;
    const queue = await call({ method: 'GET', path, headers: proof() });
    for (const item of queue?.body?.items ?? []) {
      const open = fits[view]?.filter((what) =>
        item.allowed_actions.includes((what as { action: string }).action),
      );
      if (!open?.length || random.chance(0.5)) continue;
      const { subject, id: note, version: expected_version } = item;
      const what = random.pick(open);
      await afterwards(
        subject
          ? await post(
              'moderation.decide_subject',
              `subjects/${subject.type}/${subject.id}/decisions`,
              {
                ...what,
                expected_version,
              },
            )
          : await decide(note, expected_version, what),
      );
    }
  }

  /** Switches from the token to a browser session, or back. */
  async function change(): Promise<void> {
    const path = '/api/moderation/session';
    const old = cookie;
    if (!old) {
      const entry = { operation: 'moderation.sign_in', actor: id, path, body: { token } };
      cookie = await signIn(common, random, entry);
      return;
    }
    const headers = proof();
    const entry = { operation: 'moderation.sign_out', actor: id, address: '' };
    const subject = sessionId(old) ?? '';
    const send = () => call({ method: 'DELETE', path, headers });
    const answer = await retryUntilAnswered(common, random, { ...entry, subject, send });
    cookie = undefined;
    if (done(answer)) await expectEnded(common, '/api/moderation/me', old);
  }

  async function work(): Promise<void> {
    while (history.now() < common.until) {
      if (random.chance(0.1)) await change();
      await (random.chance(0.6) ? pending() : others());
      await sleep(50);
    }
  }

  return { claim, decide, giveBack, work };
}
