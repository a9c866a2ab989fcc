import { z } from 'zod';
import { COMMAND_PROBLEMS } from '../../platform/http/problems.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  Handle,
  Key,
  ReceiptBody,
  StatusReply,
  Timestamp,
  Uuid,
} from '../../platform/http/schemas.ts';
import { DISABLED_PROBLEMS, PROVEN_EACH_TIME } from '../disabling/contract.ts';
import type { ExportSection } from '../export-section.ts';
import { Member } from '../membership/contract.ts';
import { toSections } from './sections.ts';

const exportOf = (sections: readonly ExportSection[]) =>
  z
    .object({
      status: z.literal('ok'),
      exported_at: Timestamp,
      feed_sequence: z.int(),
      member: Member.extend({ registered_at: Timestamp }),
      ...Object.fromEntries(
        sections.map(({ name, shape, schema }) => [
          name,
          shape === 'one' ? schema.nullable() : z.array(schema),
        ]),
      ),
    })
    .catchall(z.unknown())
    .meta({ id: 'Export', description: 'A later release may have more sections.' });

const AccountDeletion = z
  .strictObject({ confirm_handle: Handle, erase_notes: z.boolean().default(false) })
  .meta({ id: 'AccountDeletion' });

const DeletionReply = z
  .object({ status: z.literal('deactivated'), receipt: ReceiptBody })
  .meta({ id: 'DeletionReply' });

const DisabledExportRequest = z
  .strictObject({ id: Uuid, sign_in_key: Key })
  .meta({ id: 'DisabledExportRequest' });

/** Not `Export`, so that its sections are described once. */
const DisabledExport = z
  .looseObject({ status: z.literal('ok'), exported_at: Timestamp })
  .meta({ id: 'DisabledExport', description: 'The document of `GET /api/v1/me/export`' });

const DisabledDeletion = AccountDeletion.extend({ id: Uuid, sign_in_key: Key }).meta({
  id: 'DisabledDeletion',
});

/** Builds the contract; `exportSections` define the schema of the export document. */
export function accountContract(exportSections: readonly ExportSection[]) {
  const document = exportOf(toSections(exportSections, 0));
  return defineContract({
    'account.export': {
      method: 'GET',
      path: '/api/v1/me/export',
      summary: 'Everything held on the member, as one JSON document',
      description:
        'Streamed: `status`, `exported_at`, `feed_sequence`, `member`, then an array for each kind of ' +
        'record. Each record is as it was when it was read; the feed ends with `feed_sequence`, its ' +
        'newest entry at the start. `decision` of a note or record that moderators rejected or took ' +
        'down has its `policy` and their `message`. Until the undo window of a rejection, or of the ' +
        'removal of a record, is over, the note is `pending`, the record `published`, `decision` null. No key and no verifier is in it. A document that does not end with ' +
        'its closing brace is not complete: the connection broke, or the credential was revoked.',
      tag: 'account',
      access: { scope: 'account:export' },
      replies: {
        200: {
          description: 'The document',
          body: document,
          headers: { 'Content-Disposition': 'A file name to keep it under' },
        },
      },
      problems: ['credential_not_accepted', 'overloaded'],
    },
    'account.delete': {
      method: 'POST',
      path: '/api/v1/me/delete',
      summary: 'Delete the account permanently',
      description:
        'Ends every session and credential at once, withdraws what the member published, and erases ' +
        'names and texts within minutes. Approved notes stay, under the name `former member`, unless ' +
        '`erase_notes` is true. The handle is never given again. After a lost answer every request is ' +
        'answered 401, this one too: `GET /api/v1/me` with 401 confirms the deletion, as long as the ' +
        'credential had neither ended nor been revoked. Where it may have, make another with the ' +
        'sign-in key: 201 says that the account lives.',
      tag: 'account',
      access: { scope: 'account:delete' },
      idempotency: 'required',
      body: AccountDeletion,
      replies: {
        200: {
          description: 'Deleted',
          body: DeletionReply,
        },
      },
      problems: [...COMMAND_PROBLEMS, 'invalid_request'],
    },
    'membership.export_disabled': {
      ...PROVEN_EACH_TIME,
      path: '/api/membership/disabled/export',
      summary: 'Everything held on you, while your membership is disabled',
      description:
        'The document of `GET /api/v1/me/export`. It breaks off if the keys are replaced or the account is ' +
        'deleted meanwhile.',
      body: DisabledExportRequest,
      replies: {
        200: {
          description: 'The document',
          body: DisabledExport,
          headers: { 'Content-Disposition': 'A file name to keep it under' },
        },
      },
      problems: [...DISABLED_PROBLEMS, 'overloaded'],
    },
    'membership.delete_disabled': {
      ...PROVEN_EACH_TIME,
      path: '/api/membership/disabled/delete',
      summary: 'Delete your account permanently, while your membership is disabled',
      description:
        'As `POST /api/v1/me/delete`. Afterwards each request with the key is answered 401, this one too.',
      body: DisabledDeletion,
      replies: { 200: { description: 'Deleted: deactivated', body: StatusReply } },
      problems: [...DISABLED_PROBLEMS, 'invalid_request'],
    },
  });
}
