import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from './history.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

const MARKERS = [
  'CaseOpened',
  'CaseNoted',
  'ProfilePublished',
  'CredentialRevoked',
  'NoteSubmitted',
];

/** One fault after another until the end; each is told, so that a run can be read afterwards. */
export async function breakThings(
  stage: Stage,
  history: History,
  random: Random,
  until: number,
): Promise<void> {
  const faults: Record<string, () => Promise<unknown> | unknown> = {
    'kill -9 of a web or worker process': () => stage.kill(random.pick(stage.names)),
    'kill -9 of PostgreSQL': () => stage.killPostgres(),
    'a process stands still': () =>
      stage.freeze(random.pick(stage.names), 500 + random.below(3000)),
    'every connection to the database is cut': () => stage.proxy.cut(),
    'the database is silent': async () => {
      stage.proxy.hold();
      await sleep(500 + random.below(4000));
      stage.proxy.release();
    },
    "COMMIT's reply is lost": () => stage.proxy.dropCommitReply(random.pick(MARKERS)),
    'COMMIT is lost': () => stage.proxy.dropCommit(random.pick(MARKERS)),
  };
  while (history.now() < until) {
    const name = random.pick(Object.keys(faults));
    history.faults.push(name);
    await faults[name]?.();
    await stage.ready();
    await sleep(300 + random.below(1500));
  }
}
