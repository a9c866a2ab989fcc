import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { startService } from '../../support/service.ts';

// Made by .ci/run from requirements.txt beside this file; elsewhere there may be no Python.
const python = process.env.FOREIGN_PYTHON;
if (!python)
  console.error('SKIPPED: clients in Python; FOREIGN_PYTHON names no Python that has them');

t.test(
  'lets the Python clients of A2A and MCP read and claim a case',
  { skip: python ? false : 'FOREIGN_PYTHON is not set' },
  async (t) => {
    const service = await startService(t);
    const caseId = await createOpenCase(createCaseCommands(await newAgent(service)));
    const claimant = await newAgent(service);
    const bearer = claimant.authorization.replace('Bearer ', '');
    const script = join(import.meta.dirname, 'clients.py');
    const ran = await promisify(execFile)(python ?? '', [script, service.baseUrl, bearer, caseId], {
      timeout: 120_000,
    }).catch((error: { stdout: string; stderr: string }) => error);
    t.comment(ran.stdout);
    t.equal('code' in ran ? ran.stderr : '', '', 'it ran to its end');
    t.match(ran.stdout, /ok a2a claimed, and replayed/);
    t.match(ran.stdout, /ok mcp legacy spoke 2025-/);
    t.match(ran.stdout, /ok mcp auto spoke 2026-07-28/);
    const read = await service.call('GET', `/api/v1/cases/${caseId}`);
    t.equal(read.body.case.claim.member_id, claimant.id);
  },
);
