//# Included by products in registers, at a step of their sums: what each row reads, of which READS has
//# the text, times the block wa and, of two, wb.
//#for r in range(ROWS)
//#if BOTH
    let x${r} = ${READS[r]};
    s${r}a += wa * x${r};
    s${r}b += wb * x${r};
//#else
    s${r}a += wa * ${READS[r]};
//#end
//#end
