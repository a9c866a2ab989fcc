import type { z } from 'zod';
import type { Json, Reader } from '../../../platform/http/reader.ts';

/** A tool: its input, its output, and the function that reads the output. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  run(reader: Reader, given: Record<string, never>): Promise<Json>;
}

export function tool<Input extends z.ZodObject>(
  made: Omit<Tool, 'input' | 'run'> & {
    input: Input;
    run(reader: Reader, given: z.output<Input>): Promise<Json>;
  },
): Tool {
  return made as unknown as Tool;
}
