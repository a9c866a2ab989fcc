import type { Handlers } from '../../platform/http/route.ts';
import { byBearer, type MemberDeps } from '../credentials/by-bearer.ts';
import type { PublicationKind } from '../publications/publication-kind.ts';
import type { reportsContract } from './contract.ts';
import { reportNote, reportRecord } from './report.ts';

export interface ReportsDeps extends MemberDeps {
  publicationKinds: readonly PublicationKind[];
}

export function reportsHandlers(deps: ReportsDeps): Handlers<typeof reportsContract> {
  const { store, publicationKinds } = deps;
  return {
    'report.create': (call) => {
      const { memberId } = call.principal;
      const policy = byBearer(deps, call);
      const kind = publicationKinds.find(({ type }) => type === call.body.subject.type);
      return kind
        ? reportRecord(store, policy, kind, memberId, call.body)
        : reportNote(store, policy, memberId, call.body);
    },
  };
}
