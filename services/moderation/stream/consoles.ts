import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { MODERATION_TOPIC, subjectKey } from '../../../domain/moderation/subject.ts';
import type { Role } from '../../../domain/permissions.ts';
import { currentEpoch, FIRST_EPOCH } from '../../../platform/eventstore/log-epochs.ts';
import { createLogFollower } from '../../../platform/eventstore/subscription.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { createCoalescer } from '../../../platform/postgres/coalescer.ts';
import type { Notifications } from '../../../platform/postgres/notifications.ts';
import { snapshot } from '../../../platform/postgres/reads.ts';
import { withDeadline } from '../../../platform/postgres/request-deadline.ts';
import { named, type Sql, sql } from '../../../platform/sql.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import { subjectOf } from '../claims/leases.ts';
import type { MembershipReview } from '../queue/membership-review.ts';
import { appealsByDecider, queueCounts } from '../queue/queue-counts.ts';
import { claims, counts, type Figures, type Lease, type Message, queued } from './messages.ts';

const COUNTS_MS = 1000;
/** Counts are refreshed this often anyway, because no event says that a deferred note is due. */
const RECOUNT_MS = 5000;
const PAUSE_MS = 50;
const NO_MODERATOR = '00000000-0000-0000-0000-000000000000';

export interface Console {
  me: PrincipalOf<'moderator'>;
  send(message: Message): void;
  /** Called when the session has ended or the moderator's token, role or state has changed. */
  end(): void;
}

export interface ConsoleSubscription {
  /**
   * The id of a message: the epoch of the log, and the position up to which everything was sent, or
   * an earlier one.
   */
  id(position?: number): string;
  epoch(): number;
  /** The newest position of the log that was seen. */
  last(): number;
  /** Initial messages for a newly connected console. */
  present(me: Console['me']): Message[];
}

export interface ConsolesDeps {
  pool: pg.Pool;
  wakeUps: Notifications;
  membershipReview: Pick<MembershipReview, 'appealsByDecider'>;
}

/** All consoles of this process; they share one watch on the log, the leases and the counts. */
export function createConsoles({ pool, wakeUps, membershipReview }: ConsolesDeps) {
  const consoles = new Set<Console>();
  let watch: ReturnType<typeof startWatch> | undefined;

  /** Resolves when the watch has started; from then on, the console gets every message. */
  async function join(
    console: Console,
  ): Promise<{ watch: ConsoleSubscription; leave: () => void }> {
    consoles.add(console);
    watch ??= startWatch({ pool, wakeUps, membershipReview }, consoles);
    const mine = watch;
    const leave = () => {
      consoles.delete(console);
      if (consoles.size > 0 || watch !== mine) return;
      mine.stop();
      watch = undefined;
    };
    try {
      await mine.started;
    } catch (error) {
      leave();
      throw error;
    }
    return { watch: mine, leave };
  }

  return { join };
}

export type Consoles = ReturnType<typeof createConsoles>;

function startWatch(
  { pool, wakeUps, membershipReview }: ConsolesDeps,
  consoles: ReadonlySet<Console>,
) {
  const tail = createLogFollower(pool);
  let epoch: number | undefined;
  const countsOf = queueCounts(pool, membershipReview);
  let held = new Map<string, Lease>();
  let figures: Figures = { counts: {}, appealsAgainst: new Map(), memberAppeals: [], atWork: [] };
  let countedAt = Number.NEGATIVE_INFINITY;
  let uncounted = true;
  let standing = false;
  const looks = createCoalescer<void>();
  let stopped = false;
  let unsubscribe: () => void = () => undefined;

  async function look(): Promise<void> {
    const asked = [...consoles];
    const [[now], leases, living] = await snapshot(pool, [
      currentEpoch(),
      liveLeases(),
      livingModerators(asked.map(({ me }) => me.moderatorId)),
    ]);
    epoch ??= now?.epoch;
    // The log was restored: a console that connects again has everything read anew.
    if (epoch !== now?.epoch) for (const console of asked) console.end();
    // Read the events last: the tail returns each event only once, so no other read may fail after
    // this one and before the events are sent.
    const events = await tail.read();
    const rotated = new Set(
      events
        .filter(({ type }) => type === 'ModeratorTokenRotated')
        .map(({ stream_id }) => stream_id),
    );
    for (const console of asked)
      if (!lives(console, living) || rotated.has(`moderator-${console.me.moderatorId}`))
        console.end();
    const told = tell(events, leases);
    uncounted ||= told;
    const age = performance.now() - countedAt;
    if (age < (uncounted ? COUNTS_MS : RECOUNT_MS)) return;
    const { statements, toCounts } = countsOf({ moderatorId: NO_MODERATOR, role: 'auditor' });
    const [counted, ofMembers, appeals, memberAppeals, atWork] = await snapshot(pool, [
      ...statements,
      appealsByDecider(),
      membershipReview.appealsByDecider(),
      moderatorsAtWork(),
    ]);
    figures = {
      counts: await toCounts(counted, ofMembers),
      appealsAgainst: new Map(appeals.map(({ moderator_id, count }) => [moderator_id, count])),
      memberAppeals,
      atWork: atWork.map(({ moderator_id }) => moderator_id),
    };
    uncounted = false;
    countedAt = performance.now();
    if (standing) for (const console of consoles) console.send(countsFor(console.me));
  }

  function tell(events: Awaited<ReturnType<typeof tail.read>>, leases: Lease[]): boolean {
    const id = messageId();
    const messages = events.flatMap((event) => queued(event, id) ?? []);
    const before = held;
    held = new Map(leases.map((lease) => [subjectKey(subjectOf(lease)), lease]));
    const changed = leases.filter(
      (lease) => !same(lease, before.get(subjectKey(subjectOf(lease)))),
    );
    const released = [...before].filter(([key]) => !held.has(key)).map(([, lease]) => lease);
    if (changed.length + released.length > 0) messages.push(claims(id, changed, released, false));
    // During the first look nothing is sent: consoles that wait for it get `present` afterwards.
    if (standing)
      for (const console of consoles) for (const message of messages) console.send(message);
    return messages.length > 0;
  }

  const messageId = (position = Infinity) =>
    `${epoch ?? FIRST_EPOCH}.${Math.min(position, tail.settled())}`;

  const countsFor = (me: Console['me']) => counts(messageId(), figures, me, [...held.values()]);

  /** Looks, then pauses; wake-ups in the meantime bring one more look. */
  async function lookOnWakeUp(): Promise<void> {
    if (stopped) return;
    // The database may be unavailable for a while; the next wake-up brings another look.
    await lookAlone().catch(() => undefined);
    await sleep(PAUSE_MS);
  }

  /** A look may start within a request, but has its own deadline. */
  const lookAlone = () => withDeadline(look);

  // The log is opened first: that may take a second, in which the leases that a look reads grow old.
  const started = withDeadline(async () => {
    await tail.read();
    await look();
  }).then(() => {
    standing = true;
    if (stopped) return;
    unsubscribe = wakeUps.subscribe(MODERATION_TOPIC, () => void looks('look', lookOnWakeUp));
  });

  function stop(): void {
    stopped = true;
    unsubscribe();
  }

  return {
    started,
    stop,
    id: messageId,
    epoch: () => epoch ?? FIRST_EPOCH,
    last: tail.last,
    present: (me: Console['me']) => [
      claims(messageId(), [...held.values()], [], true),
      countsFor(me),
    ],
  };
}

function same(left: Lease, right: Lease | undefined): boolean {
  return (
    left.lease_id === right?.lease_id && left.expires_at.getTime() === right.expires_at.getTime()
  );
}

interface Living {
  moderator_id: string;
  role: Role;
  sessions: string[] | null;
}

function lives({ me }: Console, living: readonly Living[]): boolean {
  const row = living.find(({ moderator_id }) => moderator_id === me.moderatorId);
  if (row?.role !== me.role) return false;
  return me.sessionId === null || (row.sessions ?? []).includes(me.sessionId);
}

function livingModerators(ids: readonly string[]): Sql<Living> {
  return sql`SELECT m.moderator_id, m.role,
      (SELECT array_agg(s.session_id) FROM moderator_sessions s
        WHERE s.moderator_id = m.moderator_id AND s.expires_at > clock_timestamp()
          AND s.seen_at > clock_timestamp() - interval '8 hours') AS sessions
    FROM moderators m WHERE m.moderator_id = ANY(${ids}::uuid[]) AND m.state = 'active'`;
}

/** The moderators who decide, and who used a session within the last 15 minutes. */
function moderatorsAtWork(): Sql<{ moderator_id: string }> {
  return sql`SELECT DISTINCT moderator_id FROM moderator_sessions JOIN moderators USING (moderator_id)
    WHERE state = 'active' AND role <> 'auditor' AND expires_at > clock_timestamp()
      AND seen_at > clock_timestamp() - interval '15 minutes'`;
}

function liveLeases(): Sql<Lease> {
  return named(`SELECT lease_id, subject_type, note_id, moderator_id, expires_at FROM note_leases
    WHERE ${isLiveLease()} ORDER BY note_id, subject_type`);
}
