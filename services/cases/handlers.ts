import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { atTime, openCase } from '../../domain/cases/case.ts';
import type { CaseState, ExistingCase } from '../../domain/cases/case-state.ts';
import { isLapsed } from '../../domain/cases/lease.ts';
import { affectedMembersOfCase } from '../../domain/cases/member-commands.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { Decided } from '../../platform/eventstore/stream.ts';
import type { Handlers } from '../../platform/http/route.ts';
import { rowsThatFit, toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/snapshot.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { publicArtifact } from '../../projections/artifacts/artifacts.ts';
import { findCaseRecord } from '../../projections/cases/case-record.ts';
import { countHeldCases, findCase, publicCases } from '../../projections/cases/cases.ts';
import { byBearer, type MemberDeps } from '../credentials/by-bearer.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { caseBody, rowAfter, rowOfNewCase } from './case-body.ts';
import { caseNoteStreams, caseStreams, type FoundCase, loadCase } from './case-stream.ts';
import { CASE_HISTORY_LIMIT, type casesContract } from './contract.ts';

export interface CasesDeps extends MemberDeps {
  readPool: pg.Pool;
}

export function casesHandlers(deps: CasesDeps): Handlers<typeof casesContract> {
  const { readPool, store } = deps;
  return {
    'case.list': async ({ query: { cursor, limit, ...filter } }) => {
      const place = toKeysetPosition('cases', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(readPool, publicCases(filter, limit + 1, place));
      // A case may have 64 KB of texts: a hundred of them would take a processor for 0.1 s.
      const fit = rowsThatFit(rows, ({ title, summary, objective, acceptance_criteria }) => [
        title,
        summary,
        objective,
        ...(acceptance_criteria ?? []),
      ]);
      const page = toPage('cases', rows, Math.min(limit, fit), (last) => ({
        at: last.place,
        id: last.case_id,
      }));
      return {
        status: 200,
        body: {
          status: 'ok',
          cases: page.rows.map(caseBody),
          ...page.next,
        },
      };
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

    'case.claim': (call) =>
      handle(store, byBearer(deps, call), {
        load: {
          found: loadCase(call.params.case_id),
          held: countHeldCases(call.principal.memberId),
        },
        decide({ found, held: [held] }, now) {
          const decided = found.decide({
            type: 'ClaimCase',
            ...contextOf(call, found, now),
            held: held?.count ?? 0,
            leaseSeconds: call.body.lease_seconds,
          });
          if (isRefusal(decided)) return decided;
          return {
            ...decided,
            reply: (receipt) => ({
              status: 200,
              body: { status: 'claimed', case: bodyAfter(found, decided, now), receipt },
            }),
          };
        },
      }),

    'case.release': (call) =>
      handle(store, byBearer(deps, call), {
        load: { found: loadCase(call.params.case_id) },
        decide({ found }, now) {
          const decided = found.decide({
            type: 'ReleaseCase',
            ...contextOf(call, found, now),
          });
          if (isRefusal(decided)) return decided;
          return {
            ...decided,
            reply: (receipt) => ({
              status: 200,
              body: { status: 'released', case: bodyAfter(found, decided, now), receipt },
            }),
          };
        },
      }),

    'case.submit': (call) => {
      const { summary, artifact_id: artifactId, policy_version: policyVersion } = call.body;
      const submissionId = randomUUID();
      return handle(store, byBearer(deps, call), {
        load: {
          found: loadCase(call.params.case_id),
          artifacts: artifactId === null ? null : publicArtifact(artifactId),
        },
        decide({ found, artifacts }, now) {
          const submitted = found.decide({
            type: 'SubmitWork',
            ...contextOf(call, found, now),
            submissionId,
            summary,
            artifactId,
            artifactPublic: artifacts.length > 0,
            policyVersion,
          });
          if (isRefusal(submitted)) return submitted;
          const body = bodyAfter(found, submitted, now, { summary, artifactId });
          return {
            ...submitted,
            reply: (receipt) => ({
              status: 201,
              body: { status: 'submitted', case: body, receipt },
            }),
          };
        },
      });
    },

    'case.review': (call) => {
      const { decision, comment, policy_version: policyVersion } = call.body;
      const reviewId = randomUUID();
      return handle(store, byBearer(deps, call), {
        load: { found: loadCase(call.params.case_id) },
        decide({ found }, now) {
          const reviewed = found.decide({
            type: 'ReviewSubmission',
            ...contextOf(call, found, now),
            reviewId,
            decision,
            comment,
            policyVersion,
          });
          if (isRefusal(reviewed)) return reviewed;
          const body = bodyAfter(found, reviewed, now);
          return {
            ...reviewed,
            reply: (receipt) => ({
              status: 201,
              body: { status: 'reviewed', case: body, receipt },
            }),
          };
        },
      });
    },

    'case.withdraw': (call) =>
      handle(store, byBearer(deps, call), {
        load: { found: loadCase(call.params.case_id) },
        decide({ found }, now) {
          const decided = found.decide({
            type: 'WithdrawCase',
            ...contextOf(call, found, now),
          });
          if (isRefusal(decided)) return decided;
          return {
            ...decided,
            rows: [dropLeases('case', [call.params.case_id])],
            reply: (receipt) => ({
              status: 200,
              body: { status: 'withdrawn', case: bodyAfter(found, decided, now), receipt },
            }),
          };
        },
      }),

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

/** What every command of a member on a case carries. */
const contextOf = (
  { principal, body }: { principal: { memberId: string }; body: { expected_version: number } },
  { members }: { members: readonly string[] },
  now: Date,
) => ({ memberId: principal.memberId, now, members, expectedVersion: body.expected_version });

/** The case as a decision leaves it; `submitted` is the work that the command submits. */
const bodyAfter = (
  { row }: FoundCase,
  { state }: Decided<CaseState>,
  now: Date,
  submitted: Parameters<typeof rowAfter>[3] = null,
) => caseBody(rowAfter(row, state as ExistingCase, now, submitted));
