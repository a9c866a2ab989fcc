import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ArgumentError, asksForHelp, parseArguments } from '../platform/command-line/arguments.ts';
import { toIssues } from '../platform/http/issues.ts';
import { Problem } from '../platform/http/problems.ts';
import { type JsonObject, parseStrictJson } from '../platform/http/strict-json.ts';
import { contentHash } from '../platform/json.ts';
import { RelativePath } from '../services/artifacts/fixture.ts';
import {
  CheckableFixture,
  checkFixture,
  type FixtureReport,
} from '../services/artifacts/fixture-check.ts';
import { observeFixture } from '../services/artifacts/fixture-files.ts';
import { Packet } from '../services/artifacts/packet.ts';

const USAGE = `Usage: npm run verify-handoff -- PACKET.json --root DIR [--json]

Compares each case of a handoff's portable fixture with real files and reports what was expected
beside what was found. It reads and never executes. A match proves consistency only, never completion.

PACKET.json  a context packet, or the record that GET /api/v1/artifacts/{id} answers, whose content
             hash is checked too
--root DIR   holds one folder for each case, named after it; no link below it is followed
--json       one JSON document on standard output

Exit status:
   0  every case was found as expected
   2  wrong arguments, or a packet that the service would not publish
   3  DIR or a file in it cannot be read
  else the gravest state among the cases that were not found as expected:
  10  missing_artifact
  11  integrity_mismatch
  12  reconciliation_required
  13  completion_unproven
  14  ready (where something else was expected)
`;

const EXIT = {
  missing_artifact: 10,
  integrity_mismatch: 11,
  reconciliation_required: 12,
  completion_unproven: 13,
  ready: 14,
} as const;

/** The output of the command and its exit status. */
export interface Verdict {
  status: number;
  out: string;
  err: string;
}

const refused = (status: number, err: string): Verdict => ({ status, out: '', err });

function readArguments(args: string[]) {
  const options = { root: { type: 'string' }, json: { type: 'boolean', default: false } } as const;
  const { positionals, values } = parseArguments(args, options, [1, 1]);
  const [path = ''] = positionals;
  const { root, json } = values;
  if (!root) throw new ArgumentError('--root DIR is missing.');
  return { path, root, json };
}

const Record = z.object({
  artifact: z.object({ content_hash: z.string(), packet: z.record(z.string(), z.unknown()) }),
});

const Checkable = z.object({
  content: z.object({
    baseline_inputs: z.object({ operation_ledger: RelativePath }),
    portable_fixture: CheckableFixture,
  }),
});

interface Issue {
  path: string;
  message: string;
}

/** The packet in a file, alone or within its record, and the issues with it. */
function readPacket(file: JsonObject): { packet: unknown; issues: Issue[] } {
  const record = Record.safeParse(file);
  const packet: unknown = record.success ? record.data.artifact.packet : file;
  const { error } = Packet.safeParse(packet);
  const issues = error ? toIssues(error) : [];
  if (record.success && contentHash(packet) !== record.data.artifact.content_hash)
    issues.push({ path: 'content_hash', message: 'is not the hash of the packet' });
  return { packet, issues };
}

const listed = (issues: readonly Issue[]) =>
  issues.map(({ path, message }) => `  ${JSON.stringify(path)}: ${message}\n`).join('');

function exitStatus(report: FixtureReport, issues: readonly Issue[]): number {
  const wrong = report.cases.filter((checked) => !checked.as_expected);
  if (wrong.length > 0) return Math.min(...wrong.map(({ found }) => EXIT[found.state]));
  return issues.length > 0 ? 2 : 0;
}

function asText(report: FixtureReport): string {
  const lines = report.cases.flatMap(({ name, expected, found, as_expected, remarks }) => [
    `${as_expected ? 'ok    ' : 'DIFFER'}  ${JSON.stringify(name)}`,
    `        expected  ${expected.state}, ${JSON.stringify(expected.next_action)}, operations issued: ${expected.operations_issued}`,
    `        found     ${found.state}, ${JSON.stringify(found.next_action)}, operations issued: ${found.operations_issued}`,
    ...remarks.map((remark) => `        remark    ${JSON.stringify(remark)}`),
  ]);
  const summary = report.as_expected
    ? 'Every case was found as expected: consistent, which proves no completion.'
    : 'Not every case was found as expected.';
  return `${[...lines, summary].join('\n')}\n`;
}

/** Runs the whole command; the caller prints the verdict and sets the exit status. */
export async function verifyHandoff(args: string[]): Promise<Verdict> {
  if (asksForHelp(args)) return { status: 0, out: USAGE, err: '' };
  let given: ReturnType<typeof readArguments>;
  try {
    given = readArguments(args);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    return refused(2, `${error.message}\n${USAGE}`);
  }
  const { path, root, json } = given;

  let file: JsonObject;
  try {
    file = parseStrictJson(await readFile(path));
  } catch (error) {
    const why = error instanceof Problem ? error.details.message : (error as Error).message;
    return refused(2, `${path}: ${why}\n`);
  }
  const { packet, issues } = readPacket(file);
  const checkable = Checkable.safeParse(packet);
  if (!checkable.success) {
    const why = issues.length > 0 ? `:\n${listed(issues)}` : ', but a packet of another kind.\n';
    return refused(2, `${path} holds no handoff that can be checked${why}`);
  }
  const { portable_fixture: fixture, baseline_inputs: inputs } = checkable.data.content;

  let report: FixtureReport;
  try {
    report = checkFixture(fixture, await observeFixture(root, fixture, inputs.operation_ledger));
  } catch (error) {
    return refused(3, `${root} cannot be read: ${(error as Error).message}\n`);
  }
  return {
    status: exitStatus(report, issues),
    out: json
      ? `${JSON.stringify({ ...report, packet_issues: issues }, null, 2)}\n`
      : asText(report),
    err: issues.length > 0 ? `The service would refuse this packet:\n${listed(issues)}` : '',
  };
}
