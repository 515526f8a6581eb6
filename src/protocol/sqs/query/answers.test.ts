import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { invalidParameter, queueDoesNotExist, refusal } from '../errors.ts';
import { queryDone, queryRefused } from './answers.ts';

const HEAD = '<?xml version="1.0"?>';
const NS = 'xmlns="http://queue.amazonaws.com/doc/2012-11-05/"';
const META = '<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>';

function body(action: string, output: object): string {
  return queryDone(action, output, 'r').body;
}

describe('an answer in XML', () => {
  it('has the root, the result and the request id by the names of the action', () => {
    assert.deepEqual(queryDone('CreateQueue', { QueueUrl: 'http://h/0/q' }, 'r'), {
      status: 200,
      headers: { 'content-type': 'text/xml', 'x-amzn-requestid': 'r' },
      body: `${HEAD}<CreateQueueResponse ${NS}><CreateQueueResult><QueueUrl>http://h/0/q</QueueUrl></CreateQueueResult>${META}</CreateQueueResponse>`,
    });
  });

  it('is an empty result when there is nothing, and has none for actions that answer nothing', () => {
    for (const action of ['ReceiveMessage', 'GetQueueAttributes', 'ListQueues'])
      assert.equal(
        body(action, {}),
        `${HEAD}<${action}Response ${NS}><${action}Result/>${META}</${action}Response>`,
      );
    for (const action of [
      'ChangeMessageVisibility',
      'DeleteMessage',
      'DeleteQueue',
      'PurgeQueue',
      'SetQueueAttributes',
    ])
      assert.equal(body(action, {}), `${HEAD}<${action}Response ${NS}>${META}</${action}Response>`);
  });

  it('flattens lists and maps, and keeps the order of members', () => {
    const message = {
      MessageId: 'm',
      ReceiptHandle: 'h+/=',
      MD5OfBody: 'd',
      Body: 'b',
      Attributes: { SenderId: 's', ApproximateReceiveCount: '1' },
      MD5OfMessageAttributes: 'e',
      MessageAttributes: {
        t: { StringValue: 'v', DataType: 'String' },
        'b.1': { BinaryValue: 'AA==', DataType: 'Binary' },
      },
    };
    const xml =
      '<Message><MessageId>m</MessageId><ReceiptHandle>h+/=</ReceiptHandle><MD5OfBody>d</MD5OfBody><Body>b</Body>' +
      '<Attribute><Name>SenderId</Name><Value>s</Value></Attribute>' +
      '<Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value></Attribute>' +
      '<MD5OfMessageAttributes>e</MD5OfMessageAttributes>' +
      '<MessageAttribute><Name>t</Name><Value><StringValue>v</StringValue><DataType>String</DataType></Value></MessageAttribute>' +
      '<MessageAttribute><Name>b.1</Name><Value><BinaryValue>AA==</BinaryValue><DataType>Binary</DataType></Value></MessageAttribute>' +
      '</Message>';
    assert.equal(
      body('ReceiveMessage', { Messages: [message, { MessageId: 'n', Body: 'c' }] }),
      `${HEAD}<ReceiveMessageResponse ${NS}><ReceiveMessageResult>${xml}<Message><MessageId>n</MessageId><Body>c</Body></Message></ReceiveMessageResult>${META}</ReceiveMessageResponse>`,
    );
  });

  it('names the entries of batches, URLs and tags', () => {
    const failed = { Id: 'b', SenderFault: true, Code: 'X', Message: 'y' };
    for (const action of ['SendMessageBatch', 'DeleteMessageBatch', 'ChangeMessageVisibilityBatch'])
      assert.match(
        body(action, { Successful: [{ Id: 'a' }], Failed: [failed] }),
        new RegExp(
          `<${action}Result><${action}ResultEntry><Id>a</Id></${action}ResultEntry><BatchResultErrorEntry><Id>b</Id><SenderFault>true</SenderFault><Code>X</Code><Message>y</Message></BatchResultErrorEntry></${action}Result>`,
        ),
      );
    assert.match(
      body('ListQueues', { QueueUrls: ['u', 'v'], NextToken: 't' }),
      /<ListQueuesResult><QueueUrl>u<\/QueueUrl><QueueUrl>v<\/QueueUrl><NextToken>t<\/NextToken><\/ListQueuesResult>/,
    );
    assert.match(
      body('ListQueueTags', { Tags: { k: '' } }),
      /<ListQueueTagsResult><Tag><Key>k<\/Key><Value\/><\/Tag><\/ListQueueTagsResult>/,
    );
  });

  it('escapes what XML or a parser would change, and replaces what XML cannot hold', () => {
    const Body = ' <&>"\'\t\r\n]]> \u0085\u2028🎉\u{10ffff}\u0000\u001f\ufffe\ud800 ';
    assert.match(
      body('ReceiveMessage', { Messages: [{ Body }] }),
      /<Body> &lt;&amp;&gt;&quot;'\t&#xd;&#xa;\]\]&gt; \u0085\u2028🎉\u{10ffff}\ufffd\ufffd\ufffd\ufffd <\/Body>/u,
    );
  });

  it('gives any message body back to a parser as it was', () => {
    const parser = new XMLParser({
      trimValues: false,
      parseTagValue: false,
      processEntities: true,
      htmlEntities: true,
    });
    const character = fc.oneof(
      fc.constantFrom(
        '\r',
        '\n',
        '\t',
        ' ',
        '&',
        '<',
        '>',
        '"',
        "'",
        ']',
        '🎉',
        '\u{10ffff}',
        '&#xd;',
        '&amp;',
      ),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    );
    const text = fc
      .array(character, { minLength: 1, maxLength: 12 })
      .map((parts) => parts.join(''))
      .filter((joined) => !/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(joined));
    fc.assert(
      fc.property(text, (Body) => {
        const xml = body('ReceiveMessage', { Messages: [{ Body }] });
        assert.doesNotMatch(xml, /[\r\n]/);
        const parsed = parser.parse(xml).ReceiveMessageResponse.ReceiveMessageResult.Message;
        assert.equal(parsed.Body, Body);
      }),
    );
  });
});

describe('a refusal in XML', () => {
  it('tells type, legacy code, message, an empty detail and the request id', () => {
    assert.deepEqual(queryRefused(queueDoesNotExist, 'r'), {
      status: 400,
      headers: { 'content-type': 'text/xml', 'x-amzn-requestid': 'r' },
      body: `${HEAD}<ErrorResponse ${NS}><Error><Type>Sender</Type><Code>AWS.SimpleQueueService.NonExistentQueue</Code><Message>The specified queue does not exist for this wsdl version.</Message><Detail/></Error><RequestId>r</RequestId></ErrorResponse>`,
    });
    assert.match(
      queryRefused(invalidParameter('a < "b"\u0000'), 'r').body,
      /<Code>InvalidParameterValue<\/Code><Message>a &lt; &quot;b&quot;\ufffd<\/Message>/,
    );
  });

  it('is the fault of the receiver from 500 on, with Retry-After when there is one', () => {
    const answer = queryRefused({ ...refusal('ServiceUnavailable', 'x'), retryAfterSeconds: 2.1 }, 'r');
    assert.equal(answer.status, 503);
    assert.equal(answer.headers['retry-after'], '3');
    assert.match(answer.body, /<Type>Receiver<\/Type><Code>ServiceUnavailable<\/Code>/);
  });

  it('is an element of its own when the request names no action', () => {
    const answer = queryRefused(refusal('UnknownOperationException', 'x'), 'r');
    assert.deepEqual([answer.status, answer.body], [404, '<UnknownOperationException/>']);
  });
});
