import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { caseDecider, openCase } from '../../domain/cases/case.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { publicArtifact } from '../../projections/artifacts/artifacts.ts';
import { defineMemberCommand, type MemberCommand } from '../credentials/run-member-command.ts';
import { caseBody, rowOfNewCase } from './case-body.ts';
import type { casesContract } from './contract.ts';
import type { CaseOutcome } from './run-case-command.ts';

type Body = z.output<(typeof casesContract)['case.create']['body']>;

/** Opens a case with a new id. */
export function createCase(
  memberId: string,
  body: Body,
): MemberCommand<201, CaseOutcome<'created'>, 'state_conflict'> {
  const id = randomUUID();
  const { title, summary, objective, artifact_id } = body;
  return defineMemberCommand({
    load: artifact_id === null ? null : publicArtifact(artifact_id),
    decide({ rows, now }) {
      const command = {
        type: 'OpenCase' as const,
        caseId: id,
        memberId,
        title,
        summary,
        objective,
        acceptanceCriteria: body.acceptance_criteria,
        artifactId: artifact_id,
        artifactPublic: rows.length === 1,
        policyVersion: body.policy_version,
      };
      const decided = openCase(caseDecider.initial, command);
      if (isRefusal(decided)) return decided;
      return {
        status: 201,
        appends: [
          {
            owner: memberOwner(memberId),
            stream: `case-${id}`,
            version: 0,
            actor: { type: 'member', id: memberId },
            events: decided,
          },
        ],
        body: (receipt) => ({
          status: 'created',
          case: caseBody(rowOfNewCase(command, now)),
          receipt,
        }),
      };
    },
  });
}
