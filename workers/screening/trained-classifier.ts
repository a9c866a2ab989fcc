import { setImmediate as turn } from 'node:timers/promises';
import { query } from '../../platform/postgres/query.ts';
import { standingDecisions } from '../../projections/guestbook/note-decisions.ts';
import type { Core } from '../../services/compose.ts';
import { type Bayes, newBayes } from '../../services/screening/bayes.ts';

const MAX_DECISIONS = 5000;
const FRESH_MS = 5 * 60_000;
const AT_A_TIME = 200;

interface Learnt {
  since: number;
  bayes: Promise<Bayes>;
}

const learnt = new WeakMap<object, Learnt>();

/**
 * The classifier trained on the newest decisions. It is at most five minutes old, so erased text is
 * forgotten within that time.
 */
export function trainedClassifier(parts: Pick<Core, 'pool'>): Promise<Bayes> {
  const known = learnt.get(parts.pool);
  if (known && performance.now() - known.since < FRESH_MS) return known.bayes;
  const bayes = learn(parts);
  learnt.set(parts.pool, { since: performance.now(), bayes });
  bayes.catch(() => learnt.delete(parts.pool));
  return bayes;
}

/** Trains a classifier; yields to the event loop every 200 texts, so that other jobs can run. */
export async function learn({ pool }: Pick<Core, 'pool'>): Promise<Bayes> {
  const bayes = newBayes();
  const rows = await query(pool, standingDecisions(MAX_DECISIONS));
  for (const [index, { message, rejected }] of rows.entries()) {
    if (index % AT_A_TIME === 0) await turn();
    bayes.learn({ message, rejected });
  }
  return bayes;
}
