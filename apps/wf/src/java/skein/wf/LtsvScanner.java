// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/** Scans lines of an {@link LtsvFormat}. */
final class LtsvScanner extends KeyedScanner {
    private final FieldNames labels;

    LtsvScanner(LtsvFormat format) {
        super(format.fields(), format.own());
        labels = new FieldNames(format.fields(), false);
    }

    @Override
    int scan(byte[] bytes, int at, int end, Rows batch, int row) {
        if (at == end) return 0;
        begin(bytes, at, end);
        for (int from = at; from <= end; ) {
            int to = Bytes.indexOf(bytes, from, end, (byte) '\t');
            int colon = Bytes.indexOf(bytes, from, to, (byte) ':');
            if (colon == to) return MALFORMED;
            int field = labels.field(labels.entry(bytes, from, colon));
            if (field >= 0) pick(field, colon + 1, to, false);
            from = to + 1;
        }
        return fill(batch, row);
    }
}
