import type { Handlers } from '../../platform/http/route.ts';
import { type MemberCommandDeps, runMemberCommand } from '../credentials/run-member-command.ts';
import type { PublicationKind } from '../publications/publication-kind.ts';
import type { reportsContract } from './contract.ts';
import { reportNote, reportRecord } from './report.ts';

export interface ReportsDeps extends MemberCommandDeps {
  publicationKinds: readonly PublicationKind[];
}

export function reportsHandlers(deps: ReportsDeps): Handlers<typeof reportsContract> {
  return {
    'report.create': (call) => {
      const { memberId } = call.principal;
      const subject = deps.publicationKinds.find(({ type }) => type === call.body.subject.type);
      const command = subject
        ? reportRecord(subject, memberId, call.body)
        : reportNote(memberId, call.body);
      return runMemberCommand(deps, call, command);
    },
  };
}
