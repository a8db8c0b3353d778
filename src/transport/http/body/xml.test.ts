import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../../protocol/errors.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { xml } from './xml.ts'

const read = (text: string) => JSON.parse(JSON.stringify(xml.parse(text, defaultLimits, { type: 'application/xml' })))

describe('XML bodies', () => {
  for (const [name, text, expected] of [
    ['any root name', '<anything><name>Rex</name><age>3</age></anything>', { name: 'Rex', age: '3' }],
    ['an empty element is an empty text', '<pet><name/><bio></bio></pet>', { name: '', bio: '' }],
    ['elements of one name are a list', '<o><pets>1</pets><pets>2</pets><pets>3</pets></o>', { pets: ['1', '2', '3'] }],
    [
      'nested elements are an object',
      '<p><extra><a>1</a><b><c>2</c></b></extra></p>',
      { extra: { a: '1', b: { c: '2' } } },
    ],
    ['attributes of elements mean nothing', '<p id="9"><name lang="en">Rex</name></p>', { name: 'Rex' }],
    ['entities of XML itself', '<p><name>&lt;&amp;&gt;&quot;&apos;&#x41;</name></p>', { name: '<&>"\'A' }],
    ['character data is text', '<p><name><![CDATA[<b>&]]></name></p>', { name: '<b>&' }],
    ['white space within a value stays', '<p>\n  <name> a b </name>\n</p>', { name: ' a b ' }],
    [
      'a declaration and comments',
      '<?xml version="1.0" encoding="UTF-8"?><!-- x --><p><name>Rex</name></p>',
      { name: 'Rex' },
    ],
    [
      'hostile names are members like any other',
      '<p><__proto__><x>1</x></__proto__><constructor>2</constructor></p>',
      JSON.parse('{"__proto__":{"x":"1"},"constructor":"2"}'),
    ],
  ] as const) {
    test(name, () => assert.deepEqual(read(text), expected))
  }

  for (const [name, text, message] of [
    ['a document type', '<!DOCTYPE p [<!ENTITY a "b">]><p><name>&a;</name></p>', /document type/],
    ['an external entity', '<!DOCTYPE p SYSTEM "file:///etc/passwd"><p/>', /document type/],
    ['an unknown entity', '<p><name>&nbsp;</name></p>', /not well-formed/],
    ['an element that is not closed', '<p><name>Rex</p>', /not well-formed/],
    ['two roots', '<p><a>1</a></p><q/>', /not well-formed/],
    ['nothing but text', 'name=Rex', /not well-formed/],
    ['a root without elements', '<p>Rex</p>', /must be an element/],
    ['text beside elements', '<p>x<name>Rex</name></p>', /both elements and text/],
    ['another encoding', '<?xml version="1.0" encoding="latin1"?><p><a>1</a></p>', /UTF-8/],
    ['too deep', `${'<a>'.repeat(40)}1${'</a>'.repeat(40)}`, /nested deeper than/],
    ['too many elements', `<p>${'<a/>'.repeat(1001)}</p>`, /more than 1000 elements/],
  ] as const) {
    test(`${name} is refused`, () =>
      assert.throws(
        () => read(text),
        (error) => error instanceof ServiceError && error.code === 'E_BAD_BODY' && message.test(error.message),
      ))
  }
})
