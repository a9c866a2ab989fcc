import type { Entry, Fault } from '../history.ts';
import type { Limits } from '../limits.ts';
import type { LogFacts } from '../log-facts.ts';

const EXEMPT = ['credential.bootstrap', 'credential.revoke', 'account.delete'];
const DAY_MS = 86_400_000;
const TEN_MINUTES_MS = 600_000;

/** Writes, active credentials and members never exceed their limits, by log and receipts. */
export function limitsHeld({ events, receipts }: LogFacts, limits: Limits): string[] {
  const wrong: string[] = [];
  const writes = Map.groupBy(
    receipts.filter(({ space, operation }) => space === 'api' && !EXEMPT.includes(operation)),
    ({ owner, at }) => `${owner} on day ${Math.floor(at / DAY_MS)}`,
  );
  for (const [member, { length }] of writes)
    if (length > limits.writes) wrong.push(`${member}: ${length} writes, ${limits.writes} allowed`);

  const active = new Map<string, Map<string, number>>();
  let members = 0;
  for (const { type, owner, data, at } of events) {
    if (type === 'MemberRegistered') members++;
    if (type === 'MemberDeactivated') members--;
    if (members > limits.members) wrong.push(`${members} members, ${limits.members} allowed`);
    const now = active.get(owner) ?? new Map<string, number>();
    active.set(owner, now);
    const id = String(data.credential_id);
    if (type === 'CredentialRevoked') now.delete(id);
    if (type !== 'CredentialCreated') continue;
    for (const [other, until] of now) if (until <= at) now.delete(other);
    now.set(id, Date.parse(String(data.expires_at)));
    if (now.size > limits.credentials) wrong.push(`${owner}: ${now.size} active credentials`);
  }
  return wrong;
}

/**
 * Checks the limits per address. Notes and attempts are counted in transactions that are not
 * flushed: a kill of PostgreSQL may lose counts, so the affected addresses are not checked.
 */
export function addressLimitsHeld(
  entries: readonly Entry[],
  { receipts }: LogFacts,
  limits: Limits,
  faults: readonly Fault[],
): string[] {
  const kept = new Set(receipts.map(({ key }) => key));
  const happened = ({ key, outcome }: Entry) => outcome === 'done' || kept.has(key ?? '');
  const rules: readonly {
    what: string;
    of: (entry: Entry) => boolean;
    most: number;
    windowMs: number;
    flushed: boolean;
  }[] = [
    {
      what: 'notes',
      of: (entry) => entry.operation === 'guestbook.submit' && happened(entry),
      most: limits.notes,
      windowMs: TEN_MINUTES_MS,
      flushed: false,
    },
    {
      what: 'new members',
      of: (entry) => entry.operation === 'membership.register' && happened(entry),
      most: limits.registrations,
      windowMs: DAY_MS,
      flushed: true,
    },
    {
      what: 'attempts',
      of: ({ operation, status }) => operation === 'membership.attempt' && status === 401,
      most: limits.attempts,
      windowMs: TEN_MINUTES_MS,
      flushed: false,
    },
  ];
  return rules.flatMap(({ what, of, most, windowMs, flushed }) =>
    [...Map.groupBy(entries.filter(of), ({ address }) => address)].flatMap(([address, all]) => {
      const from = Math.min(...all.map(({ invoked }) => invoked));
      const to = Math.max(...all.map(({ answered }) => answered));
      const lost = faults.some(({ crash, began, ended }) => crash && began < to && ended > from);
      const windows = Math.floor(to / windowMs) - Math.floor(from / windowMs) + 1;
      const spared = lost && !flushed;
      return spared || all.length <= most * windows
        ? []
        : [`${address}: ${all.length} ${what}, ${most} allowed`];
    }),
  );
}
