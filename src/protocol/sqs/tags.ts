/** Why tags are refused, in AWS's words where they are known (docs/sqs-compatibility.md tells which are not). */
import { TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, type TagProblem } from '../../core/queue-tags.ts';
import { invalidParameter, type Refusal } from './errors.ts';

const ALLOWED =
  'may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @';

function wordsOf(problem: TagProblem, queueName: string): string {
  switch (problem) {
    case 'too-many':
      return `Too many tags added for queue ${queueName}.`;
    case 'key-length':
      return `Tag keys must be between 1 and ${TAG_KEY_LENGTH_MAX} characters in length.`;
    case 'key-characters':
      return `Tag keys ${ALLOWED}`;
    case 'key-reserved':
      return 'Tag keys must not begin with aws:, which is reserved for system tags.';
    case 'value-length':
      return `Tag values must be between 0 and ${TAG_VALUE_LENGTH_MAX} characters in length.`;
    case 'value-characters':
      return `Tag values ${ALLOWED}`;
  }
}

export function tagRefusal(problem: TagProblem, queueName: string): Refusal {
  return invalidParameter(wordsOf(problem, queueName));
}
