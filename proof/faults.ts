import { setTimeout as sleep } from 'node:timers/promises';
import type { ProofEnvironment } from './environment.ts';
import type { History } from './history.ts';
import { FAULTS, type FaultName, type Step } from './plan.ts';
import type { Random } from './random.ts';

const SLOW_MS = 60;
/** Longest calm after a fault, in which bursts can finish undisturbed. */
const CALM_MS = 3000;

/** Injects the fault of a step, waits until it is over, and returns its details. */
async function happen(
  { fault, target, ms, marker }: Step,
  stage: ProofEnvironment,
): Promise<string> {
  const { proxy, web, workers } = stage;
  const all = [...web, ...workers];
  const one = (names: readonly string[]) => names[target % names.length] ?? '';
  switch (fault) {
    case 'kill -9 of a web process':
      await stage.kill(one(web));
      return one(web);
    case 'kill -9 of a worker process':
      await stage.kill(one(workers));
      return one(workers);
    case 'kill -9 of PostgreSQL':
      await stage.killPostgres();
      return '';
    case 'the standby is lost, then the primary, and the standby is promoted':
      await stage.failOver(ms);
      return '';
    case 'the standby, which is the read replica, is lost and comes back':
      await stage.loseReplica(ms);
      return `${ms} ms`;
    case 'the read replica falls behind':
      await stage.pauseReplay(ms);
      return `${ms} ms`;
    case 'the pooler is restarted':
      await stage.pooler?.restart();
      return '';
    case 'a process stands still':
      await stage.freeze(one(all), ms);
      return `${one(all)}, ${ms} ms`;
    case 'a backend of PostgreSQL stands still':
      await stage.freezeBackend(target, ms);
      return `${ms} ms`;
    case "a process's clock jumps":
      stage.moveClock(one(all));
      return one(all);
    case 'every connection to the database is cut':
      proxy.cut();
      return '';
    case 'connections to the database are half closed by it':
      proxy.halfClose('client');
      return '';
    case 'connections to the database are half closed to it':
      proxy.halfClose('server');
      return '';
    case 'the database is slow':
      proxy.delay(SLOW_MS);
      await sleep(ms);
      proxy.delay(0);
      return `${SLOW_MS} ms later, ${ms} ms`;
    case 'the database is silent':
      proxy.hold();
      await sleep(ms);
      proxy.release();
      return `${ms} ms`;
    case "COMMIT's reply is lost":
      proxy.dropCommitReply(marker);
      return marker;
    case 'COMMIT is lost':
      proxy.dropCommit(marker);
      return marker;
  }
}

/** The faults that this machine can have: the pooler may not be installed. */
export const possibleFaults = ({
  pooler,
}: Pick<ProofEnvironment, 'pooler'>): readonly FaultName[] =>
  FAULTS.filter((name) => pooler || name !== 'the pooler is restarted');

/** Executes the steps of the plan until the end of the run and prints a line for each. */
export async function breakThings(
  stage: ProofEnvironment,
  history: History,
  plan: Iterator<Step, never>,
  burst: (name: string, random: Random) => Promise<unknown>,
  random: Random,
  until: number,
  say: (line: string) => void,
): Promise<void> {
  const started = history.now();
  const bursts: Promise<unknown>[] = [];
  while (history.now() < until) {
    const step = plan.next().value;
    bursts.push(...step.amid.map((name) => burst(name, random.fork())));
    await sleep(20);
    const fault = { name: step.fault, began: history.now(), ended: Infinity, crash: false };
    fault.crash =
      step.fault === 'kill -9 of PostgreSQL' ||
      step.fault === 'the standby is lost, then the primary, and the standby is promoted';
    history.faults.push(fault);
    const detail = await happen(step, stage);
    await stage.ready();
    fault.ended = history.now();
    const at = ((fault.began - started) / 1000).toFixed(1);
    const lasted = ((fault.ended - fault.began) / 1000).toFixed(1);
    say(`${at.padStart(6)} s  ${step.fault}${detail && ` (${detail})`}, ready after ${lasted} s`);
    // A slower burst continues into the next fault.
    bursts.push(...step.after.map((name) => burst(name, random.fork())));
    await Promise.race([Promise.all(bursts), sleep(CALM_MS)]);
    await sleep(step.pauseMs);
  }
  await Promise.all(bursts);
}
