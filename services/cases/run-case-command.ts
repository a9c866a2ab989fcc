import { caseDecider } from '../../domain/cases/case.ts';
import {
  type CaseEvent,
  type ExistingCase,
  RESETS,
  stateSinceReset,
} from '../../domain/cases/case-state.ts';
import type {
  CaseRefusal,
  CommandContext,
  MemberCaseCommand,
} from '../../domain/cases/commands.ts';
import {
  type Append,
  defineFactsSinceReset,
  streamVersion,
} from '../../platform/eventstore/append.ts';
import type { Actor } from '../../platform/eventstore/event.ts';
import type { Rows } from '../../platform/eventstore/load.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { publicArtifact } from '../../projections/artifacts/artifacts.ts';
import {
  caseFacts,
  livingMembersOfCase,
  membersOfCase,
} from '../../projections/cases/case-members.ts';
import { type CaseRow, countHeldCases, findCase } from '../../projections/cases/cases.ts';
import { defineMemberCommand, type MemberCommand } from '../credentials/run-member-command.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { caseBody, rowAfter } from './case-body.ts';
import type { CaseBody } from './contract.ts';

/** The response of a command on a case; `status` names what the command did. */
export interface CaseOutcome<Word> {
  status: Word;
  case: CaseBody;
  receipt: ReceiptBody;
}

const factsSinceReset = defineFactsSinceReset(RESETS);

/** The queries of a command on a case, run after the members concerned are locked. */
export function caseLoad(caseId: string, artifactId: string | null) {
  return {
    events: caseFacts(caseId, factsSinceReset),
    cases: findCase(caseId),
    members: livingMembersOfCase(caseId),
    artifacts: artifactId === null ? null : publicArtifact(artifactId),
  };
}

export interface LoadedCase {
  row: CaseRow;
  state: ExistingCase;
  version: number;
  members: string[];
  artifactPublic: boolean;
}

/** Loads a case. If the author's account is closed, the case is gone, whatever its state. */
export function loadedCase({
  cases: [row],
  events,
  members,
  artifacts,
}: Rows<ReturnType<typeof caseLoad>>): LoadedCase | Refusal<'not_found' | 'gone'> {
  if (!row || events.length === 0) return refuse('not_found');
  const state = stateSinceReset(row, events as unknown as CaseEvent[]);
  if (row.author_gone) return refuse('gone');
  return {
    row,
    state,
    version: streamVersion(events),
    members: members.map(({ member_id }) => member_id),
    artifactPublic: artifacts.length > 0,
  };
}

/** Appends the end of an expired lease with the service as actor, before the `actor`'s events. */
export function caseAppends(
  { authorId, caseId }: Pick<ExistingCase, 'authorId' | 'caseId'>,
  version: number,
  events: readonly CaseEvent[],
  actor: Actor,
): Append[] {
  const owner = memberOwner(authorId);
  const stream = `case-${caseId}`;
  const ended = events.filter(({ type }) => type === 'CaseLeaseEnded');
  const rest = events.slice(ended.length);
  return [
    { owner, stream, version, actor: { type: 'service' as const }, events: ended },
    { owner, stream, version: version + ended.length, actor, events: rest },
  ].filter((append) => append.events.length > 0);
}

export interface CaseFacts {
  artifactPublic: boolean;
  /** The number of cases that the member has claimed, for a claim. */
  held: number;
}

/** Creates a member's command on the stream of a case. */
export function caseCommand<const Status extends 200 | 201, const Word extends string>(
  call: { params: { case_id: string }; principal: { memberId: string } },
  done: { status: Status; word: Word },
  commandBy: (by: CommandContext, facts: CaseFacts) => MemberCaseCommand,
  artifactId: string | null = null,
): MemberCommand<Status, CaseOutcome<Word>, CaseRefusal> {
  const { case_id: caseId } = call.params;
  const { memberId } = call.principal;
  return defineMemberCommand({
    find: membersOfCase(caseId),
    load: {
      ofCase: caseLoad(caseId, artifactId),
      held: done.word === 'claimed' ? countHeldCases(memberId) : null,
    },
    decide({ rows: { ofCase, held }, now }) {
      const found = loadedCase(ofCase);
      if (isRefusal(found)) return found;
      const { row, state, version, members, artifactPublic } = found;
      const facts = { artifactPublic, held: held[0]?.count ?? 0 };
      const command = commandBy({ memberId, now, members }, facts);
      const decided = caseDecider.decide(state, command);
      if (isRefusal(decided)) return decided;
      const after = decided.reduce(caseDecider.evolve, state) as ExistingCase;
      const submitted = command.type === 'SubmitWork' ? command : null;
      return {
        status: done.status,
        appends: caseAppends(state, version, decided, { type: 'member', id: memberId }),
        rows: command.type === 'WithdrawCase' ? [dropLeases('case', [caseId])] : [],
        body: (receipt) => ({
          status: done.word,
          case: caseBody(rowAfter(row, after, now, submitted)),
          receipt,
        }),
      };
    },
  });
}
