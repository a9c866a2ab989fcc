import type { Subject } from '../../../domain/moderation/subject.ts';
import type { Reads } from '../../../platform/postgres/reads.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import type { PastScope } from '../../../projections/past/past-reads.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import type { ModeratorLock } from '../staff/lock-moderator.ts';
import { decisionOn } from './commands.ts';
import { reviewCommand } from './decide.ts';
import { recordCommand } from './decide-record.ts';
import { deskOptions } from './desk.ts';
import type { DecisionsDeps } from './membership-decisions.ts';
import { membershipScope, noteScope, recordScope } from './past-scopes.ts';
import {
  type AskedItem,
  type ItemRead,
  readMembership,
  readNote,
  readRecord,
} from './read-item.ts';
import type { AppealDecision, SubjectDecision } from './record-contract.ts';
import type { DecideCommand } from './request.ts';

/** How moderators read and decide on subjects of one kind. */
export interface ReviewKind {
  read(reads: Reads, asked: AskedItem): ItemRead;
  /** What a read as of an earlier moment depends on. */
  scope(id: string): PastScope;
  decide(id: string, decision: SubjectDecision): DecideCommand | Refusal<'invalid_request'>;
  lock: ModeratorLock;
}

/** The kinds of what moderators review: notes, records of each kind, and disabled memberships. */
export function reviewKinds(
  deps: DecisionsDeps,
): (type: Subject['type']) => ReviewKind | undefined {
  const { config, publicationKinds, membershipReview } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const desk = deskOptions(deps);

  const notes: ReviewKind = {
    read: readNote,
    scope: noteScope,
    decide: (id, decision) => reviewCommand(decisionOn(id, decision), desk, decision),
    lock: 'shared',
  };
  const memberships: ReviewKind = {
    read: (reads, asked) => readMembership(reads, membershipReview, asked),
    scope: (id) => membershipScope(membershipReview, id),
    decide: (id, decision) =>
      isOnAppeal(decision)
        ? membershipReview.decideAppeal(id, decision, undoSeconds)
        : wrongAction('member'),
    lock: 'alone',
  };
  const recordsOf = (kind: PublicationKind): ReviewKind => ({
    read: (reads, asked) => readRecord(reads, kind, asked),
    scope: (id) => recordScope(kind, publicationKinds, id),
    decide: (id, decision) =>
      isOnAppeal(decision)
        ? wrongAction(kind.type)
        : recordCommand(kind, id, decision, undoSeconds),
    lock: 'shared',
  });

  const kinds = new Map<Subject['type'], ReviewKind>([
    ['note', notes],
    ['member', memberships],
    ...publicationKinds.map((kind): [Subject['type'], ReviewKind] => [kind.type, recordsOf(kind)]),
  ]);
  return (type) => kinds.get(type);
}

const isOnAppeal = (decision: SubjectDecision): decision is AppealDecision =>
  decision.action === 'grant' || decision.action === 'uphold';

const wrongAction = (type: string): Refusal<'invalid_request'> =>
  refuse('invalid_request', {
    issues: [{ path: 'action', message: `is no action on a ${type.replace('_', ' ')}` }],
  });
