import { MAX_COUNTED } from '../../domain/publications/words.ts';
import { queueDepth } from '../../projections/moderation/review-stats.ts';
import { receiversOf } from '../notices/messages.ts';
import { receiverStates } from '../notices/receiver-state.ts';
import { ageSeconds, type Context } from './context.ts';
import { counted, type Section } from './report.ts';
import { deadLettersByQueue, erasures, MAX_COUNTED_JOBS, queues } from './statements.ts';

const DAY_SECONDS = 86_400;
/** As the alert ServiceJobsWaiting. */
const WAITING_JOBS = 100;
const WAITING_SECONDS = 900;
/** As the alert ServiceNoticesFail. */
const FAILED_ATTEMPTS = 8;

export async function jobsSection(context: Context): Promise<Section> {
  const { read } = context;
  const all = await read(queues());
  const dead = await read(deadLettersByQueue());
  const deadJobs = dead.reduce((sum, { jobs }) => sum + jobs, 0);
  const late = all.filter(
    ({ waiting, oldest }) =>
      waiting > WAITING_JOBS && (ageSeconds(context, oldest) ?? 0) > WAITING_SECONDS,
  );
  return {
    name: 'jobs',
    title: 'Jobs and dead letters',
    facts: [['dead_letters', 'Dead letters', counted(deadJobs, MAX_COUNTED_JOBS)]],
    tables: [
      {
        name: 'dead_letters_by_queue',
        title: 'Dead letters by queue',
        columns: [
          ['queue', 'Queue'],
          ['jobs', 'Jobs'],
          ['oldest', 'The oldest'],
        ],
        rows: dead.map(({ queue, jobs, oldest }) => [
          queue || null,
          counted(jobs, MAX_COUNTED_JOBS),
          oldest,
        ]),
      },
      {
        name: 'queues',
        title: 'Queues',
        columns: [
          ['queue', 'Queue'],
          ['waiting', 'Due'],
          ['oldest', 'The oldest'],
          ['active', 'Active'],
        ],
        rows: all.map(({ queue, waiting, oldest, active }) => [
          queue,
          counted(waiting, MAX_COUNTED_JOBS),
          oldest,
          counted(active, MAX_COUNTED_JOBS),
        ]),
      },
    ],
    warnings: [
      ...(deadJobs > 0 ? [`Jobs failed for the last time: ${shownCount(deadJobs)}.`] : []),
      ...late.map(
        ({ queue, waiting }) =>
          `Jobs of ${queue} have been due for 15 minutes: ${shownCount(waiting)}.`,
      ),
    ],
    hints: [
      'npm run dead-letters -- list prints what failed and why; npm run dead-letters -- again gives it back to its queues.',
    ],
  };
}

const shownCount = (count: number): string =>
  count > MAX_COUNTED_JOBS ? `more than ${MAX_COUNTED_JOBS}` : String(count);

export async function reviewSection({ read, config }: Context): Promise<Section> {
  const [depth] = await read(queueDepth(MAX_COUNTED + 1));
  const receivers = receiversOf(config.notifyUrls);
  const states = await read(receiverStates(receivers.map(({ key }) => key)));
  const calls = receivers.map(({ key, name }) => ({
    name,
    state: states.find(({ receiver }) => receiver === key),
  }));
  const oldest = depth?.oldest_seconds ?? null;
  return {
    name: 'review',
    title: 'Review and notices',
    facts: [
      ['pending_notes', 'Notes that wait', counted(depth?.pending ?? 0, MAX_COUNTED)],
      ['oldest_seconds', 'The oldest waits for', oldest === null ? null : { seconds: oldest }],
      ['reported', 'Public records with open reports', counted(depth?.reported ?? 0, MAX_COUNTED)],
    ],
    tables:
      calls.length === 0
        ? []
        : [
            {
              name: 'receivers',
              title: 'Receivers of notices',
              columns: [
                ['receiver', 'Receiver'],
                ['attempts_failed', 'Attempts that failed'],
                ['failed_since', 'Since'],
              ],
              rows: calls.map(({ name, state }) => [
                name,
                state?.attempts ?? 0,
                state?.failed_since ?? null,
              ]),
            },
          ],
    warnings: [
      ...((oldest ?? 0) > DAY_SECONDS ? ['A note has waited for a moderator for a day.'] : []),
      ...calls
        .filter(({ state }) => (state?.attempts ?? 0) > FAILED_ATTEMPTS)
        .map(({ name }) => `The receiver ${name} is not reached: npm run notices -- list.`),
    ],
  };
}

export async function erasuresSection(context: Context): Promise<Section> {
  const { retentionRejectedDays, retentionWithdrawnDays } = context.config;
  const [row] = await context.read(erasures(retentionRejectedDays, retentionWithdrawnDays));
  const count = (of: number | undefined) => counted(of ?? 0, MAX_COUNTED_JOBS);
  return {
    name: 'erasures',
    title: 'Erasures under way',
    facts: [
      ['members', 'Members who deleted their account, not yet erased', count(row?.waiting)],
      ['oldest', 'The oldest deletion', row?.oldest ?? null],
      ['ending', 'Of large accounts, whose records still end', count(row?.ending)],
      ['notes', 'Notes whose text is due', count(row?.notes)],
    ],
    warnings:
      (ageSeconds(context, row?.oldest) ?? 0) > DAY_SECONDS
        ? ['A member who deleted an account a day ago is not erased: see the queue erase-member.']
        : [],
  };
}
