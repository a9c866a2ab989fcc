import { exitOnClosedPipe } from '../platform/command-line/arguments.ts';
import { verifyHandoff } from './verify-handoff-command.ts';

exitOnClosedPipe();
const { status, out, err } = await verifyHandoff(process.argv.slice(2));
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = status;
