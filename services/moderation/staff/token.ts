import { readToken, type Token, tokenText } from '../../../platform/keys/token.ts';

const PREFIX = 'mod_';

/** The text of a moderator's token, as the operator hands it out: `mod_<uuid>.<64 hex>`. */
export function moderatorToken(token: Token): string {
  return `${PREFIX}${tokenText(token)}`;
}

export function readModeratorToken(text: string): Token | undefined {
  return text.startsWith(PREFIX) ? readToken(text.slice(PREFIX.length)) : undefined;
}
