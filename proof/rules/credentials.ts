import type { Entry } from '../history.ts';
import type { EventFact, LogFacts } from '../log-facts.ts';

/** A few statements separate authentication from `recorded_at`, and a backend may be frozen. */
const SLACK_MS = 5000;

/** No credential is accepted after its end: by the clients' clock, log order and expiry time. */
export function revokedForGood(
  entries: readonly Entry[],
  { events, receipts }: LogFacts,
): string[] {
  const wrong: string[] = [];
  const byId = new Map(events.map((event) => [event.id, event]));
  const created = new Map<string, EventFact>();
  const ended = new Map<string, EventFact>();
  for (const event of events) {
    const id = String(event.data.credential_id);
    if (event.type === 'CredentialCreated') created.set(id, event);
    if (event.type === 'CredentialRevoked') ended.set(id, event);
  }
  const together = new Map(receipts.flatMap(({ events: ids }) => ids.map((id) => [id, ids])));
  const acknowledged = endsAsSeen(entries, ended);

  for (const { operation, key, credential, invoked, outcome, events: ids } of entries) {
    if (credential === null || outcome !== 'done') continue;
    const told = `${operation} ${key}: done with a credential`;
    if (invoked > (acknowledged.get(credential) ?? Infinity))
      wrong.push(`${told} after its revocation was acknowledged`);
    const end = ended.get(credential);
    const until = Date.parse(String(created.get(credential)?.data.expires_at));
    for (const id of ids) {
      const event = byId.get(id);
      if (!event) continue;
      const after = end && event.position > end.position;
      if (after && !together.get(id)?.includes(end.id))
        wrong.push(`${told} whose revocation stands before it in the log`);
      if (event.at > until + SLACK_MS) wrong.push(`${told} that had expired`);
    }
  }
  return wrong;
}

/** When a client learned of a credential's end: by the answer that names it, or a recovery's. */
function endsAsSeen(entries: readonly Entry[], ended: Map<string, EventFact>): Map<string, number> {
  const answered = new Map(
    entries.flatMap((entry) =>
      entry.outcome === 'done' ? entry.events.map((id) => [id, entry.answered] as const) : [],
    ),
  );
  const recoveries = entries.filter(
    ({ operation, outcome }) => operation === 'membership.recover' && outcome === 'done',
  );
  const seen = new Map<string, number>();
  for (const [credential, { id, owner, at, data }] of ended) {
    const told = answered.get(id);
    const recovery =
      data.reason === 'recovery'
        ? recoveries.find((one) => one.actor === owner && one.invoked <= at && at <= one.answered)
        : undefined;
    const when = told ?? recovery?.answered;
    if (when !== undefined) seen.set(credential, when);
  }
  return seen;
}
