import type { Entry } from '../history.ts';
import type { EventFact, LogFacts } from '../log-facts.ts';

/** Each receipt of an operation names exactly one event of these types, besides any others. */
const EFFECTS: Readonly<Record<string, readonly string[]>> = {
  'membership.register': ['MemberRegistered'],
  'membership.recover': ['MemberRecovered'],
  'credential.bootstrap': ['CredentialCreated'],
  'credential.rotate': ['CredentialCreated'],
  'account.delete': ['MemberDeactivated'],
  'profile.publish': ['ProfilePublished'],
  'profile.withdraw': ['ProfileWithdrawn'],
  'artifact.publish': ['ArtifactPublished'],
  'artifact.withdraw': ['ArtifactWithdrawn'],
  'case.create': ['CaseOpened'],
  'case.claim': ['CaseClaimed', 'CaseLeaseExtended'],
  'case.release': ['CaseReleased'],
  'case.submit': ['CaseSubmitted'],
  'case.review': ['CaseReviewed'],
  'case.withdraw': ['CaseWithdrawn'],
  'case.note': ['CaseNoted'],
  'guestbook.submit': ['NoteSubmitted'],
};

/** Operations without a receipt; the event is found by its subject. */
const WITHOUT_RECEIPT: Readonly<Record<string, { type: string; subject: string }>> = {
  'membership.login': { type: 'SessionStarted', subject: 'session_id' },
  'membership.logout': { type: 'SessionEnded', subject: 'session_id' },
  'moderation.sign_in': { type: 'ModeratorSignedIn', subject: 'session_id' },
  'moderation.sign_out': { type: 'ModeratorSignedOut', subject: 'session_id' },
  'guestbook.withdraw': { type: 'NoteWithdrawn', subject: 'note_id' },
  'guestbook.appeal': { type: 'AppealOpened', subject: 'note_id' },
};
const SIGN_INS = [
  ['membership.login', 'SessionStarted'],
  ['moderation.sign_in', 'ModeratorSignedIn'],
] as const;
const FREE = ['NoteReported', ...Object.values(WITHOUT_RECEIPT).map(({ type }) => type)];
/** Workers append `…Told` events later, with the deciding moderator as actor. */
const needsReceipt = ({ type, actor }: EventFact) =>
  actor !== 'service' && !FREE.includes(type) && !type.endsWith('Told');

/** An acknowledged operation has exactly one effect, an unknown one at most one, a refused none. */
export function oneEffect(entries: readonly Entry[], { events, receipts }: LogFacts): string[] {
  const wrong: string[] = [];
  const recorded = new Map(events.map((event) => [event.id, event]));
  const kept = new Map(receipts.map((receipt) => [receipt.key, receipt]));
  const asked = new Set(entries.map(({ key }) => key));

  for (const { operation, key, outcome, changed, events: shown } of entries) {
    for (const id of shown) if (!recorded.has(id)) wrong.push(`${operation} ${key}: lost ${id}`);
    if (key === null) continue;
    const receipt = kept.get(key);
    if (outcome === 'done' && changed && !receipt)
      wrong.push(`${operation} ${key}: done without a receipt`);
    if (outcome === 'refused' && receipt) wrong.push(`${operation} ${key}: refused, yet done`);
    if (receipt && shown.some((id) => !receipt.events.includes(id)))
      wrong.push(`${operation} ${key}: the answer names other events than the receipt`);
  }

  const named = new Map<string, number>();
  for (const { key, operation, events: ids } of receipts) {
    if (!asked.has(key)) wrong.push(`${operation} ${key}: nobody asked for it`);
    for (const id of ids) named.set(id, (named.get(id) ?? 0) + 1);
    const types = EFFECTS[operation];
    const effects = ids.filter((id) => types?.includes(recorded.get(id)?.type ?? ''));
    if (types && effects.length !== 1)
      wrong.push(`${operation} ${key}: ${effects.length} effects for one receipt`);
  }
  for (const event of events) {
    const { id, type } = event;
    const times = named.get(id) ?? 0;
    if (times > 1) wrong.push(`${type} ${id}: in ${times} receipts`);
    if (times === 0 && needsReceipt(event)) wrong.push(`${type} ${id}: an effect of no receipt`);
  }
  return [...wrong, ...oneEffectWithoutReceipt(entries, events)];
}

function oneEffectWithoutReceipt(entries: readonly Entry[], events: LogFacts['events']): string[] {
  const wrong: string[] = [];
  for (const [operation, { type, subject }] of Object.entries(WITHOUT_RECEIPT)) {
    const made = Map.groupBy(
      events.filter((event) => event.type === type),
      ({ data }) => String(data[subject]),
    );
    for (const entry of entries)
      if (entry.operation === operation && entry.outcome === 'done') {
        const count = made.get(entry.subject ?? '')?.length ?? 0;
        // Each decision on a note can be appealed once, so a note may have several appeals.
        const enough = operation === 'guestbook.appeal' ? count >= 1 : count === 1;
        if (!enough) wrong.push(`${operation} of ${entry.subject}: ${count} effects`);
      }
  }
  for (const [operation, type] of SIGN_INS) {
    const tried = Map.groupBy(
      entries.filter((entry) => entry.operation === operation),
      ({ actor }) => actor,
    );
    const started = Map.groupBy(
      events.filter((event) => event.type === type),
      ({ owner }) => owner,
    );
    for (const [owner, { length }] of started) {
      const most = (tried.get(owner) ?? []).reduce(
        (sum, { outcome, lost }) => sum + lost + Number(outcome === 'done'),
        0,
      );
      if (length > most) wrong.push(`${owner}: ${length} sessions from ${most} sign-ins`);
    }
  }
  return wrong;
}

/** Stream versions are 1, 2, 3, … in the order of the log. */
export function streamsWhole({ events }: LogFacts): string[] {
  const last = new Map<string, number>();
  return events.flatMap(({ owner, stream, version }) => {
    const name = `${owner} ${stream}`;
    const expected = (last.get(name) ?? 0) + 1;
    last.set(name, version);
    return version === expected ? [] : [`${stream}: version ${version} after ${expected - 1}`];
  });
}
