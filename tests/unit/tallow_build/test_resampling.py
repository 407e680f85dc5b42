"""What scales photographs in the page is what its generator writes; what it computes is for
tests/js/prepare.test.js."""

from tallow_build.content import resampling


def test_the_page_has_the_code_that_is_generated():
    assert resampling.FILE.read_text("utf-8") == resampling.text()
