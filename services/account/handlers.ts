import type pg from 'pg';
import { whenAborted } from '../../platform/concurrency.ts';
import type { Config } from '../../platform/config.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import type { RouteLimits } from '../../platform/limits/route-limits.ts';
import { createWaitingPlaces, type PlaceHolder } from '../../platform/limits/waiting-places.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { refuse } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { bearerHolds } from '../../projections/credentials/credentials.ts';
import { findMember, keyHolds, type MemberRow } from '../../projections/membership/members.ts';
import { isMemberKey, type VerifierRow } from '../../projections/membership/verifiers.ts';
import { feedHead } from '../../projections/updates/feed-page.ts';
import type { AccountClosure } from '../account-closure.ts';
import { byBearer, type MemberDeps } from '../credentials/by-bearer.ts';
import { readProof, refuseUnlessDisabled } from '../disabling/proof.ts';
import type { ExportSection } from '../export-section.ts';
import { KEY_ATTEMPTS, memberBody } from '../membership/contract.ts';
import { accountContract } from './contract.ts';
import { deleteAccount, deleteDisabled } from './delete.ts';
import { exportDocument } from './export.ts';
import { toSections } from './sections.ts';

/**
 * Exports that a process streams at a time, one for each credential, and as many again for disabled members. More would share the connections
 * of the pool until batches met their deadline, which cuts a document that has begun.
 */
const EXPORTS_AT_A_TIME = 4;

export interface AccountDeps extends MemberDeps {
  config: MemberDeps['config'] & Pick<Config, 'undoWindowSeconds'>;
  pool: pg.Pool;
  limits: RouteLimits;
  /** The closures of all capabilities, except for the deactivation of the member. */
  accountClosures: readonly AccountClosure[];
  /** The export sections of all capabilities. */
  exportSections: readonly ExportSection[];
}

function accountHandlers(deps: AccountDeps): Handlers<ReturnType<typeof accountContract>> {
  const { pool, config, keys, store, limits, accountClosures, exportSections } = deps;
  const exports = createWaitingPlaces({ perHolder: 1, total: EXPORTS_AT_A_TIME });

  /** Streams the export of a proven member; `holder` has one at a time. */
  async function exportOf(
    memberId: string,
    exportedAt: Date,
    holder: PlaceHolder,
    holds: Sql,
    gone: AbortSignal,
  ) {
    // Query before the response starts, so that a database failure is still an ordinary 503.
    const [member] = await query(pool, findMember(memberId));
    const [head] = await query(pool, feedHead(memberId));
    if (!member?.handle) return undefined;
    const place = exports.take(holder);
    if (typeof place === 'string') return refuse('overloaded');
    whenAborted(gone, place.leave);
    const sequence = head?.sequence ?? 0;
    const start = {
      status: 'ok',
      exported_at: exportedAt.toISOString(),
      feed_sequence: sequence,
      member: {
        ...memberBody(memberId, member.handle),
        registered_at: member.registered_at.toISOString(),
      },
    };
    const sections = toSections(exportSections, sequence);
    return {
      status: 200 as const,
      type: 'application/json; charset=utf-8',
      headers: { 'content-disposition': 'attachment; filename="export.json"' },
      stream: exportDocument(pool, memberId, holds, start, sections, config.undoWindowSeconds),
    };
  }

  return {
    'account.export': async ({ principal, request }) => {
      const { memberId, credentialId, provenAt } = principal;
      const holder = { kind: 'credential' as const, id: credentialId };
      const holds = bearerHolds(credentialId);
      const document = await exportOf(memberId, provenAt, holder, holds, request.gone());
      return document ?? refuse('credential_not_accepted');
    },

    'membership.export_disabled': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        const { id } = call.body;
        const { members, verifiers } = readProof(id);
        const [found, verified, [clock]] = await snapshot<[MemberRow, VerifierRow, { now: Date }]>(
          pool,
          [members, verifiers, sql`SELECT clock_timestamp() AS now`],
        );
        const proof = { members: found, verifiers: verified };
        const refused = refuseUnlessDisabled(keys, call.body, proof);
        if (refused) return refused;
        const [member] = found;
        if (!member || !clock) return refuse('credentials_not_accepted');
        const holder = { kind: 'member' as const, id };
        const gone = call.request.gone();
        const document = await exportOf(id, clock.now, holder, keyHolds(member), gone);
        return document ?? refuse('credentials_not_accepted');
      }),

    'membership.delete_disabled': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        const { id, sign_in_key } = call.body;
        if (!(await isMemberKey({ pool, keys }, id, 'sign-in', sign_in_key)))
          return refuse('credentials_not_accepted');
        return deleteDisabled(deps, accountClosures, call);
      }),

    'account.delete': (call) =>
      deleteAccount(store, byBearer(deps, call), accountClosures, call.principal, call.body),
  };
}

export const routes = (deps: AccountDeps): readonly Routes[] => [
  implement(accountContract(deps.exportSections), accountHandlers(deps)),
];
