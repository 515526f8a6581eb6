import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { handlesOf, masking } from './masked.ts';

const [first, second] = ['f2d1a9a6-90a5-4a4e-8a3c-3c1f4a8ad3c5', '0b1f3f57-2f0e-4b4f-9d2e-0a4b5c6d7e8f'];
const answer = (body: string, headers = {}) => ({ status: 200, headers, body });

describe('masks of recorded answers', () => {
  it('keep which message it is: equal ids stay equal, others stay others', () => {
    const mask = masking();
    assert.equal(mask(answer(`{"MessageId":"${first}"}`)).body, '{"MessageId":"[id 1]"}');
    assert.equal(mask(answer(`${second} ${first}`)).body, '[id 2] [id 1]');
  });

  it('cover handles and times in both protocols, and nothing that clients rely on', () => {
    const handle = `${'Ac'.repeat(28)}==`;
    const json = `{"ReceiptHandle":"${handle}","SentTimestamp":"1800000061000","MD5OfBody":"5152ac16","ApproximateReceiveCount":"2"}`;
    const xml = `<ReceiptHandle>${handle}</ReceiptHandle><Name>SentTimestamp</Name><Value>1800000061000</Value><Name>DelaySeconds</Name><Value>5</Value>`;
    const mask = masking();
    assert.equal(
      mask(answer(json)).body,
      '{"ReceiptHandle":"[handle 1]","SentTimestamp":"[time]","MD5OfBody":"5152ac16","ApproximateReceiveCount":"2"}',
    );
    assert.equal(
      mask(answer(xml)).body,
      '<ReceiptHandle>[handle 1]</ReceiptHandle><Name>SentTimestamp</Name><Value>[time]</Value><Name>DelaySeconds</Name><Value>5</Value>',
    );
    assert.deepEqual([handlesOf(answer(json)), handlesOf(answer(xml))], [[handle], [handle]]);
    const refused = `Value ${handle} for parameter ReceiptHandle is invalid.`;
    assert.equal(mask(answer(refused)).body, 'Value [handle 1] for parameter ReceiptHandle is invalid.');
  });

  it('leave the headers that clients read', () => {
    const headers = {
      'content-type': 'text/xml',
      'x-amzn-requestid': first,
      'x-amzn-query-error': 'X;Sender',
    };
    assert.deepEqual(masking()(answer('', headers)).headers, {
      'content-type': 'text/xml',
      'x-amzn-query-error': 'X;Sender',
    });
  });
});
