import { z } from 'zod';
import { AnyUuid, Timestamp } from '../../platform/http/schemas.ts';
import {
  type AppealOfMembership,
  appealsAgainstDisablings,
} from '../../projections/disabling/member-appeals.ts';
import {
  disablingsOfMember,
  type ExportedDisablingRow,
} from '../../projections/disabling/member-decisions.ts';
import { exportSection } from '../export-section.ts';

const disablingsSection = exportSection<ExportedDisablingRow>({
  name: 'disablings',
  after: disablingsOfMember,
  entry: ({ event_id, decided_at, until, lifted_at, policy, message }) => ({
    id: event_id,
    since: decided_at.toISOString(),
    until: until?.toISOString() ?? null,
    lifted_at: lifted_at?.toISOString() ?? null,
    decision: policy === null ? null : { policy, message },
  }),
  schema: z
    .object({
      id: AnyUuid,
      since: Timestamp,
      until: Timestamp.nullable(),
      lifted_at: Timestamp.nullable(),
      decision: z
        .object({ policy: z.string(), message: z.string().nullable() })
        .nullable()
        .describe('Null until the undo window is over, and where the decision was undone'),
    })
    .meta({ id: 'ExportedDisabling' }),
});

const appealsSection = exportSection<AppealOfMembership>({
  name: 'disabling_appeals',
  after: appealsAgainstDisablings,
  entry: ({ appeal_id, of, text, state, opened_at, decided_at, message }) => ({
    id: appeal_id,
    disabling_id: of,
    text,
    state,
    opened_at: opened_at.toISOString(),
    decided_at: decided_at?.toISOString() ?? null,
    message,
  }),
  schema: z
    .object({
      id: AnyUuid,
      disabling_id: AnyUuid,
      text: z.string().nullable(),
      state: z.enum(['open', 'granted', 'upheld', 'moot']),
      opened_at: Timestamp,
      decided_at: Timestamp.nullable(),
      message: z.string().nullable(),
    })
    .meta({ id: 'ExportedDisablingAppeal' }),
});

export const disablingSections = [disablingsSection, appealsSection];
