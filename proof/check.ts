import type { History, ObservedFeed } from './history.ts';
import type { Limits } from './limits.ts';
import type { LogFacts } from './log-facts.ts';
import { revokedForGood } from './rules/credentials.ts';
import { oneEffect, streamsWhole } from './rules/effects.ts';
import { feedsWhole, ownWritesRead } from './rules/feeds.ts';
import { addressLimitsHeld, limitsHeld } from './rules/limits.ts';
import { authorsNotifiedInTime, decidedBeforePublic } from './rules/notes.ts';

export interface Verdict {
  rule: string;
  wrong: readonly string[];
}

/** Checks a history against the storage it left, rule by rule. */
export function check(
  history: History,
  facts: LogFacts,
  seen: readonly ObservedFeed[],
  limits: Limits,
  undoMs: number,
): Verdict[] {
  const { entries, sightings, told, ownReads, faults } = history;
  return [
    { rule: 'no client was given two answers, or 500', wrong: history.wrong },
    {
      rule: 'acknowledged: one effect; unknown: none or one; refused: none',
      wrong: oneEffect(entries, facts),
    },
    { rule: 'streams have no gap', wrong: streamsWhole(facts) },
    { rule: 'no use of a credential after its end', wrong: revokedForGood(entries, facts) },
    {
      rule: 'limits are never exceeded',
      wrong: [...limitsHeld(facts, limits), ...addressLimitsHeld(entries, facts, limits, faults)],
    },
    { rule: 'feeds are complete, in order and without a gap', wrong: feedsWhole(seen, facts) },
    {
      rule: 'no note is public without its decision',
      wrong: decidedBeforePublic(sightings, entries, facts),
    },
    { rule: 'members read their own writes', wrong: ownWritesRead(ownReads) },
    {
      rule: 'authors are notified only once a decision can no longer be undone',
      wrong: authorsNotifiedInTime(told, facts, undoMs),
    },
  ];
}
