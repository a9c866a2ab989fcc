import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Handlers } from '../../platform/http/route.ts';
import { rowsThatFit, toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/snapshot.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { findCaseRecord } from '../../projections/cases/case-record.ts';
import { findCase, publicCases } from '../../projections/cases/cases.ts';
import { type MemberCommandDeps, runMemberCommand } from '../credentials/run-member-command.ts';
import { addCaseNote } from './add-case-note.ts';
import { caseBody } from './case-body.ts';
import { CASE_HISTORY_LIMIT, type casesContract } from './contract.ts';
import { createCase } from './create.ts';
import { caseCommand } from './run-case-command.ts';

export interface CasesDeps extends MemberCommandDeps {
  readPool: pg.Pool;
}

export function casesHandlers(deps: CasesDeps): Handlers<typeof casesContract> {
  const { readPool } = deps;
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

    'case.create': (call) =>
      runMemberCommand(deps, call, createCase(call.principal.memberId, call.body)),

    'case.claim': (call) => {
      const { expected_version: expectedVersion, lease_seconds: leaseSeconds } = call.body;
      return runMemberCommand(
        deps,
        call,
        caseCommand(call, { status: 200, word: 'claimed' }, (by, { held }) => ({
          type: 'ClaimCase',
          held,
          ...by,
          expectedVersion,
          leaseSeconds,
        })),
      );
    },

    'case.release': (call) =>
      runMemberCommand(
        deps,
        call,
        caseCommand(call, { status: 200, word: 'released' }, (by) => ({
          type: 'ReleaseCase',
          ...by,
          expectedVersion: call.body.expected_version,
        })),
      ),

    'case.submit': (call) => {
      const { expected_version: expectedVersion, summary, artifact_id: artifactId } = call.body;
      const submissionId = randomUUID();
      return runMemberCommand(
        deps,
        call,
        caseCommand(
          call,
          { status: 201, word: 'submitted' },
          (by, { artifactPublic }) => ({
            type: 'SubmitWork',
            ...by,
            expectedVersion,
            submissionId,
            summary,
            artifactId,
            artifactPublic,
            policyVersion: call.body.policy_version,
          }),
          artifactId,
        ),
      );
    },

    'case.review': (call) => {
      const { expected_version: expectedVersion, decision, comment, policy_version } = call.body;
      const reviewId = randomUUID();
      return runMemberCommand(
        deps,
        call,
        caseCommand(call, { status: 201, word: 'reviewed' }, (by) => ({
          type: 'ReviewSubmission',
          ...by,
          expectedVersion,
          reviewId,
          decision,
          comment,
          policyVersion: policy_version,
        })),
      );
    },

    'case.withdraw': (call) =>
      runMemberCommand(
        deps,
        call,
        caseCommand(call, { status: 200, word: 'withdrawn' }, (by) => ({
          type: 'WithdrawCase',
          ...by,
          expectedVersion: call.body.expected_version,
        })),
      ),

    'case.note': (call) =>
      runMemberCommand(
        deps,
        call,
        addCaseNote(call.params.case_id, call.principal.memberId, call.body),
      ),
  };
}
