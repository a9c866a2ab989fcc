import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { atTime, openCase } from '../../domain/cases/case.ts';
import type { ExistingCase } from '../../domain/cases/case-state.ts';
import type { MemberCaseCommand } from '../../domain/cases/commands.ts';
import { isLapsed } from '../../domain/cases/lease.ts';
import { affectedMembersOfCase } from '../../domain/cases/member-commands.ts';
import { memberOwner } from '../../domain/owners.ts';
import { defineCommand, handle } from '../../platform/eventstore/handle.ts';
import type { Rows } from '../../platform/eventstore/load.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import { rowsThatFit, toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import { publicArtifact } from '../../projections/artifacts/artifacts.ts';
import { findCaseRecord } from '../../projections/cases/case-record.ts';
import {
  casesOfClaimant,
  casesOfParticipant,
  countHeldCases,
  findCase,
  type ListedCaseRow,
  publicCases,
} from '../../projections/cases/cases.ts';
import { byBearer, type MemberDeps } from '../credentials/by-bearer.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { caseBody, rowAfter, rowOfNewCase } from './case-body.ts';
import { caseNoteStreams, caseStreams, loadCase } from './case-stream.ts';
import { CASE_HISTORY_LIMIT, casesContract } from './contract.ts';

export interface CasesDeps extends MemberDeps {
  readPool: pg.Pool;
}

function casesHandlers(deps: CasesDeps): Handlers<typeof casesContract> {
  const { readPool, store } = deps;
  return {
    'case.list': async ({ query: { cursor, limit, ...filter } }) => {
      const place = toKeysetPosition('cases', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(readPool, publicCases(filter, limit + 1, place));
      return { status: 200, body: pageOfCases('cases', rows, limit) };
    },

    'case.mine': async ({ principal: { memberId }, query: { role, cursor, limit } }) => {
      const list = role ? `cases ${role}` : 'cases of member';
      const place = toKeysetPosition(list, cursor);
      if (isRefusal(place)) return place;
      const reads = {
        author: () => publicCases({ author_id: memberId }, limit + 1, place),
        claimant: () => casesOfClaimant(memberId, limit + 1, place),
        any: () => casesOfParticipant(memberId, limit + 1, place),
      };
      // From the primary, so that a member finds what a command has just changed.
      const rows = await query<ListedCaseRow>(store.pool, reads[role ?? 'any']());
      return { status: 200, body: pageOfCases(list, rows, limit) };
    },

    'case.read': async ({ params: { case_id: id } }) => {
      const [[row], [record]] = await snapshot(readPool, [
        findCase(id),
        findCaseRecord(id, CASE_HISTORY_LIMIT),
      ]);
      if (!row || !record) return refuse('not_found');
      if (row.removed || row.author_gone) return refuse('gone');
      return { status: 200, body: { status: 'ok', case: caseBody(row), ...record } };
    },

    'case.create': (call) => {
      const { title, summary, objective, acceptance_criteria, artifact_id, policy_version } =
        call.body;
      const { memberId } = call.principal;
      const caseId = randomUUID();
      return handle(store, byBearer(deps, call), {
        load: { artifacts: artifact_id === null ? null : publicArtifact(artifact_id) },
        decide({ artifacts }, now) {
          const created = caseStreams.create(memberOwner(memberId), caseId);
          const command = {
            type: 'OpenCase' as const,
            caseId,
            memberId,
            title,
            summary,
            objective,
            acceptanceCriteria: acceptance_criteria,
            artifactId: artifact_id,
            artifactPublic: artifacts.length === 1,
            policyVersion: policy_version,
          };
          const opened = created.append(openCase(created.state, command));
          if (isRefusal(opened)) return opened;
          return {
            ...opened,
            reply: (receipt) => ({
              status: 201,
              body: { status: 'created', case: caseBody(rowOfNewCase(command, now)), receipt },
            }),
          };
        },
      });
    },

    'case.claim': (call) => {
      const { lease_seconds: leaseSeconds } = call.body;
      const reads = countHeldCases(call.principal.memberId);
      const command = caseCommand(
        call,
        { httpStatus: 200, status: 'claimed' },
        reads,
        ([held]) => ({
          type: 'ClaimCase',
          held: held?.count ?? 0,
          leaseSeconds,
        }),
      );
      return handle(store, byBearer(deps, call), command);
    },

    'case.release': (call) => {
      const command = caseCommand(call, { httpStatus: 200, status: 'released' }, null, () => ({
        type: 'ReleaseCase',
      }));
      return handle(store, byBearer(deps, call), command);
    },

    'case.submit': (call) => {
      const { summary, artifact_id: artifactId, policy_version: policyVersion } = call.body;
      const submissionId = randomUUID();
      const reads = artifactId === null ? null : publicArtifact(artifactId);
      const command = caseCommand(
        call,
        { httpStatus: 201, status: 'submitted' },
        reads,
        (found) => ({
          type: 'SubmitWork',
          submissionId,
          summary,
          artifactId,
          artifactPublic: found.length > 0,
          policyVersion,
        }),
      );
      return handle(store, byBearer(deps, call), command);
    },

    'case.review': (call) => {
      const { decision, comment, policy_version: policyVersion } = call.body;
      const reviewId = randomUUID();
      const command = caseCommand(call, { httpStatus: 201, status: 'reviewed' }, null, () => ({
        type: 'ReviewSubmission',
        reviewId,
        decision,
        comment,
        policyVersion,
      }));
      return handle(store, byBearer(deps, call), command);
    },

    'case.withdraw': (call) => {
      const command = caseCommand(call, { httpStatus: 200, status: 'withdrawn' }, null, () => ({
        type: 'WithdrawCase',
      }));
      return handle(store, byBearer(deps, call), command);
    },

    'case.note': (call) => {
      const { case_id: caseId } = call.params;
      const { memberId } = call.principal;
      const { message, policy_version: policyVersion } = call.body;
      const noteId = randomUUID();
      return handle(store, byBearer(deps, call), {
        load: { found: loadCase(caseId) },
        decide({ found }, now) {
          const { row, state, members } = found;
          const noted = caseNoteStreams.create(memberOwner(memberId), noteId).decide({
            type: 'AddCaseNote',
            caseId,
            noteId,
            memberId,
            message,
            policyVersion,
            state: atTime(state, now).status,
            removed: state.removed,
            members,
          });
          if (isRefusal(noted)) return noted;
          const affected = affectedMembersOfCase({ members, memberId });
          const ended = found.decide({ type: 'EndLease', now, members: affected });
          if (isRefusal(ended)) return ended;
          const lapsed = isLapsed(row.state, row.lease_expires_at, now);
          return {
            appends: [...ended.appends, ...noted.appends],
            reply: (receipt) => ({
              status: 201,
              body: { status: 'noted', case: caseBody({ ...row, lapsed }), receipt },
            }),
          };
        },
      });
    },
  };
}

/** A page of at most `limit` cases, without those that are hidden. */
function pageOfCases(list: string, rows: ListedCaseRow[], limit: number) {
  // A case may have 64 KB of texts: a hundred of them would take a processor for 0.1 s.
  const fit = rowsThatFit(rows, ({ title, summary, objective, acceptance_criteria }) => [
    title,
    summary,
    objective,
    ...(acceptance_criteria ?? []),
  ]);
  const page = toPage(list, rows, Math.min(limit, fit), (last) => ({
    at: last.place,
    id: last.case_id,
  }));
  const cases = page.rows.filter(({ hidden }) => !hidden).map(caseBody);
  return { status: 'ok' as const, cases, ...page.next };
}

/** A command of the decider without what `caseCommand` adds to each. */
type OnCase<Of = MemberCaseCommand> = Of extends MemberCaseCommand
  ? Omit<Of, 'memberId' | 'now' | 'members' | 'expectedVersion'>
  : never;

interface CaseCall {
  principal: { memberId: string };
  params: { case_id: string };
  body: { expected_version: number };
}

/**
 * A member's command on a case, of which the member has seen a version. `reads` is what `toCommand` needs
 * besides the case. Replies with the case as the command leaves it.
 */
function caseCommand<
  const Code extends number,
  const Status extends string,
  const Of extends Sql | null,
>(
  { principal: { memberId }, params: { case_id: caseId }, body }: CaseCall,
  { httpStatus, status }: { httpStatus: Code; status: Status },
  reads: Of,
  toCommand: (rows: Rows<Of>) => OnCase,
) {
  return defineCommand({
    load: { found: loadCase(caseId), reads },
    decide({ found, reads: rows }, now) {
      const { members, row } = found;
      const context = { memberId, now, members, expectedVersion: body.expected_version };
      const command: MemberCaseCommand = { ...toCommand(rows as Rows<Of>), ...context };
      const decided = found.decide(command);
      if (isRefusal(decided)) return decided;
      const work = command.type === 'SubmitWork' ? command : null;
      const after = caseBody(rowAfter(row, decided.state as ExistingCase, now, work));
      return {
        appends: decided.appends,
        rows: command.type === 'WithdrawCase' ? [dropLeases('case', [caseId])] : [],
        reply: (receipt: ReceiptBody) => ({
          status: httpStatus,
          body: { status, case: after, receipt },
        }),
      };
    },
  });
}

export const routes = (deps: CasesDeps): readonly Routes[] => [
  implement(casesContract, casesHandlers(deps)),
];
