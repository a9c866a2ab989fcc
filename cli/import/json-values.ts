import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { fileText } from './file-text.ts';
import { MAX_COMMENT_CHARACTERS, UnreadableExport } from './source.ts';

const MAX_DEPTH = 32;

export interface JsonValue {
  value: unknown;
  /** The index or name of the value in each array and object that it is in, from the outermost. */
  path: readonly (string | number)[];
}

/**
 * Reads the values at some paths of a JSON file, such as `$.comments.*`, one at a time. Throws
 * `UnreadableExport` for a file that is no JSON, is nested too deeply, or has one value that is too large.
 */
export async function* jsonValues(file: string, paths: string[]): AsyncGenerator<JsonValue> {
  const tokenizer = new Tokenizer();
  const parser = new TokenParser({ paths, keepStack: false });
  const found: JsonValue[] = [];
  let sinceValue = 0;
  let depth = 0;
  let failure: Error | undefined;
  tokenizer.onToken = (token) => {
    if (token.token === TokenType.LEFT_BRACE || token.token === TokenType.LEFT_BRACKET) depth += 1;
    if (token.token === TokenType.RIGHT_BRACE || token.token === TokenType.RIGHT_BRACKET)
      depth -= 1;
    if (depth > MAX_DEPTH) throw new UnreadableExport('the JSON is nested too deeply');
    parser.write(token);
  };
  parser.onValue = ({ value, key, stack }) => {
    sinceValue = 0;
    const outer = stack.flatMap(({ key: name }) => name ?? []);
    found.push({ value, path: key === undefined ? outer : [...outer, key] });
  };
  tokenizer.onError = parser.onError = (error) => {
    failure ??= error;
  };
  for await (const chunk of fileText(file)) {
    sinceValue += chunk.length;
    if (sinceValue > MAX_COMMENT_CHARACTERS)
      throw new UnreadableExport(
        `one value of the JSON has more than ${MAX_COMMENT_CHARACTERS} characters`,
      );
    if (chunk !== '') tokenizer.write(chunk);
    if (failure) throw asUnreadable(failure);
    yield* found.splice(0);
  }
  if (!tokenizer.isEnded && !parser.isEnded) throw new UnreadableExport('the JSON ends too early');
}

const asUnreadable = (error: Error): Error =>
  error instanceof UnreadableExport
    ? error
    : new UnreadableExport('the file is not valid JSON', { cause: error });
