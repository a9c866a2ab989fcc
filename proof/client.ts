import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Answer, type Call, done, type History, nothing, open } from './history.ts';
import type { Random } from './random.ts';

/** A case as a client last saw it. */
export interface KnownCase {
  id: string;
  author: string;
  version: number;
  state: string;
  claimant: string | undefined;
}

/** State that the clients of one run share. */
export interface SharedRunState {
  call: Call;
  history: History;
  until: number;
  /** All writes have stopped. */
  quiet: boolean;
  cases: KnownCase[];
  artifacts: { id: string; author: string }[];
  /** Public notes at the top level. */
  notes: string[];
}

/** How to send an operation, and what to record about it. */
export interface Operation {
  operation: string;
  actor: string;
  address: string;
  key?: string;
  subject?: string;
  credential?: string | undefined;
  /** Maximum number of retries while there is no clear answer. */
  patience?: number;
  /** Number of concurrent identical requests; all that succeed must get the same answer. */
  copies?: number;
  /** Whether to send the request once more after it was answered. */
  again?: boolean;
  send: () => Promise<Answer | undefined>;
}

/** How long retries may continue after the end of a run. */
const LATE_MS = 10_000;

/** Sends the identical request until its outcome is known or the retries are used up. */
export async function retryUntilAnswered(
  { history, until }: SharedRunState,
  random: Random,
  asked: Operation,
): Promise<Answer | undefined> {
  const { operation, key = null, send, patience = 60, copies = 1 } = asked;
  const invoked = history.now();
  let lost = 0;

  const one = async () => {
    for (let tries = 0; ; tries++) {
      const answer = await send();
      if (answer?.status === 500) history.wrong.push(`${operation} ${key}: answered 500`);
      if (open(answer)) lost++;
      else if (!nothing(answer)) return answer;
      if (tries >= patience || history.now() > until + LATE_MS) return answer;
      await sleep(40 + 80 * random.next());
    }
  };

  const answers = await Promise.all(Array.from({ length: copies }, one));
  const kept = answers.filter(done).filter((answer) => changedSomething(answer, history.leases));
  if (asked.again && answers.some(done)) {
    const last = await one();
    answers.push(last);
    if (done(last) && (kept.length > 0 || changedSomething(last, history.leases))) kept.push(last);
  }
  const first = kept[0] ?? answers.find(done);
  const told = first ?? answers.find((answer) => answer && !open(answer));
  // A lost request may still be executed, so a later refusal does not settle its outcome.
  const outcome = first ? 'done' : lost > 0 ? 'unknown' : 'refused';
  if (first && asked.key && kept.some((other) => !alike(operation, first, other))) {
    const bodies = kept.map(({ body }) => JSON.stringify(body));
    history.wrong.push(`${operation} ${key}: two answers to one request: ${bodies.join(' ')}`);
  }
  history.entries.push({
    operation,
    actor: asked.actor,
    address: asked.address,
    key,
    subject: asked.subject ?? null,
    credential: asked.credential ?? null,
    invoked,
    answered: history.now(),
    lost,
    outcome,
    status: told?.status ?? 0,
    changed: first !== undefined && changedSomething(first, history.leases),
    events: first ? eventsOf(first) : [],
  });
  for (const id of first ? leasesOf(first) : []) history.leases.add(id);
  return outcome === 'unknown' ? undefined : told;
}

/**
 * False for what leaves no receipt, so that a retry is decided anew: a batch with no accepted item, a
 * claim of nothing or of items that the moderator held already, the renewal or release of leases that
 * have ended, and a member's command without an event.
 */
function changedSomething(answer: Answer, leases: ReadonlySet<string>): boolean {
  const { results, receipt, claims, renewed, released } = answer.body ?? {};
  if (claims) return leasesOf(answer).some((id) => !leases.has(id));
  const changed = renewed ?? released;
  if (changed) return changed.length > 0;
  return !(results || receipt) || eventsOf(answer).length > 0;
}

const leasesOf = ({ body }: Answer): string[] =>
  (body?.claims ?? []).map(({ lease_id }: { lease_id: string }) => lease_id);

const eventsOf = ({ body }: Answer): string[] =>
  body?.receipt?.event_ids ??
  (body?.results ?? [body]).flatMap((one: { event_id?: string }) => one?.event_id ?? []);

/**
 * The part of an answer that is the same on every retry: all of it, except a note's current state
 * and a case's texts, which are erased with their author's account.
 */
function lasting(operation: string, { body }: Answer): unknown {
  if (operation === 'guestbook.submit') return body.id;
  if (operation === 'moderation.claim') return leasesOf({ body } as Answer);
  if (operation.startsWith('case.') && body.case) {
    const { submission } = body.case;
    const left = { title: '', summary: '', objective: '', acceptance_criteria: [] };
    const given = submission && { ...submission, summary: null };
    return { ...body, case: { ...body.case, ...left, submission: given } };
  }
  return body;
}

const alike = (operation: string, left: Answer, right: Answer): boolean =>
  isDeepStrictEqual(lasting(operation, left), lasting(operation, right));

export function uuid(random: Random): string {
  const hex = () => random.below(16).toString(16);
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, hex);
}

/** 64 random hex digits that occur nowhere else. */
export const mark = (random: Random): string =>
  Array.from({ length: 64 }, () => random.below(16).toString(16)).join('');

export function secret(random: Random, { secrets }: History): string {
  const made = mark(random);
  secrets.add(made);
  return made;
}

/** A random address out of so many that no limit per address is reached by chance. */
export const anyAddress = (random: Random): string =>
  `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`;

export const consent = {
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
};
