import type pg from 'pg';
import type { History } from './history.ts';
import type { Seen } from './reader.ts';

interface EventRow {
  event_id: string;
  owner_id: string;
  stream_id: string;
  type: string;
  data: { credential_id?: string; note_id?: string };
  recorded_at: Date;
}

interface ReceiptRow {
  owner_id: string;
  key: string;
  operation: string;
  event_ids: string[];
}

/** What a history and the storage after it say against each other; nothing, where all is well. */
export async function check(
  pool: pg.Pool,
  history: History,
  feeds: readonly Seen[],
  limits: { writes: number; credentials: number },
): Promise<string[]> {
  const wrong = [...history.wrong];
  const { rows: events } = await pool.query<EventRow>(
    'SELECT event_id, owner_id, stream_id, type, data, recorded_at FROM events ORDER BY position',
  );
  const { rows: receipts } = await pool.query<ReceiptRow>(
    'SELECT owner_id, key, operation, event_ids FROM receipts',
  );
  exactlyOnce(history, events, receipts, wrong);
  revokedForGood(history, wrong);
  limitsHeld(events, receipts, limits, wrong);
  decidedBeforePublic(history, events, wrong);
  await feedsWhole(pool, feeds, wrong);
  return wrong;
}

/** Each acknowledged operation has exactly one effect, each unknown one none or one. */
function exactlyOnce(
  history: History,
  events: readonly EventRow[],
  receipts: readonly ReceiptRow[],
  wrong: string[],
): void {
  const recorded = new Set(events.map(({ event_id }) => event_id));
  const kept = new Map(receipts.map((receipt) => [receipt.key, receipt]));
  const tried = new Map(history.entries.map((entry) => [entry.key, entry]));
  for (const { operation, key, outcome, answer } of history.entries) {
    const receipt = kept.get(key);
    if (outcome === 'done' && !receipt) wrong.push(`${operation} ${key}: done without a receipt`);
    if (outcome === 'refused' && receipt) wrong.push(`${operation} ${key}: refused, yet done`);
    const shown: string[] = answer?.body?.receipt?.event_ids ?? [];
    for (const id of shown) if (!recorded.has(id)) wrong.push(`${operation} ${key}: lost ${id}`);
    if (receipt && shown.length > 0 && shown.join() !== receipt.event_ids.join())
      wrong.push(`${operation} ${key}: the answer names other events than the receipt`);
  }
  for (const { key, operation } of receipts)
    if (!tried.has(key)) wrong.push(`${operation} ${key}: nobody asked for it`);
  for (const [operation, type] of [
    ['case.create', 'CaseOpened'],
    ['profile.publish', 'ProfilePublished'],
    ['guestbook.submit', 'NoteSubmitted'],
    ['case.note', 'CaseNoted'],
  ]) {
    const done = receipts.filter((receipt) => receipt.operation === operation).length;
    const made = events.filter((event) => event.type === type).length;
    if (done !== made) wrong.push(`${operation}: ${done} receipts, ${made} events`);
  }
}

/** No use of a credential is accepted that began after its revocation was acknowledged. */
function revokedForGood({ entries }: History, wrong: string[]): void {
  const ended = new Map<string, number>();
  for (const { operation, outcome, answer, answered } of entries)
    if (operation === 'credential.revoke' && outcome === 'done')
      ended.set(answer?.body.credential.credential_id, answered);
  for (const { operation, key, credential, invoked, outcome } of entries) {
    const end = credential === null ? undefined : ended.get(credential);
    if (end !== undefined && outcome === 'done' && invoked > end)
      wrong.push(`${operation} ${key}: done with a credential that had been revoked`);
  }
}

const EXEMPT = [
  'credential.bootstrap',
  'credential.revoke',
  'membership.register',
  'guestbook.submit',
];

function limitsHeld(
  events: readonly EventRow[],
  receipts: readonly ReceiptRow[],
  limits: { writes: number; credentials: number },
  wrong: string[],
): void {
  const used = Map.groupBy(
    receipts.filter(({ operation }) => !EXEMPT.includes(operation)),
    ({ owner_id }) => owner_id,
  );
  for (const [member, { length }] of used)
    if (length > limits.writes) wrong.push(`${member}: ${length} writes, ${limits.writes} allowed`);
  const active = new Map<string, Set<string>>();
  for (const { type, owner_id, data } of events) {
    const now = active.get(owner_id) ?? new Set();
    active.set(owner_id, now);
    if (type === 'CredentialCreated') now.add(data.credential_id ?? '');
    if (type === 'CredentialRevoked') now.delete(data.credential_id ?? '');
    if (now.size > limits.credentials) wrong.push(`${owner_id}: ${now.size} active credentials`);
  }
}

/** Whatever a visitor saw was approved, and whatever is public now stands approved. */
function decidedBeforePublic(
  { published }: History,
  events: readonly EventRow[],
  wrong: string[],
): void {
  const approved = new Set(
    events.filter(({ type }) => type === 'NoteApproved').map(({ data }) => data.note_id),
  );
  for (const id of published) if (!approved.has(id)) wrong.push(`note ${id}: public, not approved`);
}

/** What each reader saw is its member's whole feed, in order, without a gap. */
async function feedsWhole(pool: pg.Pool, feeds: readonly Seen[], wrong: string[]): Promise<void> {
  for (const { member, events } of feeds) {
    const { rows } = await pool.query<{ id: string; sequence: string }>(
      'SELECT event_id AS id, sequence FROM feed WHERE member_id = $1 ORDER BY sequence',
      [member],
    );
    rows.forEach(({ id, sequence }, index) => {
      if (Number(sequence) !== index + 1)
        wrong.push(`${member}: ${sequence} stands at ${index + 1}`);
      if (events[index]?.id !== id) wrong.push(`${member}: the reader missed ${sequence}`);
    });
    if (events.length !== rows.length)
      wrong.push(`${member}: ${rows.length} events, ${events.length} were read`);
  }
}
